/** The small words: instance ids, outcomes, names. */
import { describe, expect, it } from "vitest";
import { relayAudience, roleName } from "../../../shared/domain/identity.ts";
import { instanceIdOf } from "../../../shared/domain/instance-id.ts";
import { again } from "../../../shared/domain/outcome.ts";

describe("the instance id at the end of a providerID", () => {
  it.each([
    ["aws:///eu-west-1b/i-0b662ef9931388ba0", "i-0b662ef9931388ba0"],
    ["aws:///eu-west-1b/i-1a2b3c4d", "i-1a2b3c4d"],
    ["aws://eu-west-1b/i-0b662ef9931388ba0", "i-0b662ef9931388ba0"],
    ["aws:///eu-west-1b/i-0b662ef9931388ba0/more", undefined],
    ["aws:///eu-west-1b/fargate-ip-10-0-0-1.ec2.internal", undefined],
    ["gce://p/z/i-0b662ef9931388ba0", undefined],
    ["i-0b662ef9931388ba0", undefined],
    ["", undefined],
    [undefined, undefined],
  ])("%s", (providerId, expected) => {
    expect(instanceIdOf(providerId)).toBe(expected);
  });
});

describe("coming back", () => {
  it.each([
    [3, 3],
    [2.1, 3],
    [0, 1],
    [-5, 1],
    [900, 900],
    [901, 900],
    [43_200, 900],
    [Number.POSITIVE_INFINITY, 900],
    [Number.NaN, 900],
  ])("%d s are clamped to %d s", (asked, expected) => {
    expect(again(asked, "test")).toEqual({ kind: "again", afterSeconds: expected, because: "test" });
  });
});

describe("names that cloud and cluster agree on", () => {
  it("are of one cluster", () => {
    expect(roleName("blue", "drain-urgent")).toBe("nodekeeper-blue-drain-urgent");
    expect(relayAudience("blue", "eu-west-1")).toBe("nodekeeper-relay/blue/eu-west-1");
  });
});
