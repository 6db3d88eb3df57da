/** The arithmetic against the deadline, with the figures of the design. */
import { describe, expect, it } from "vitest";
import {
  escalationTime,
  graceLeftSeconds,
  latestStart,
  ownGraceSeconds,
  plusSeconds,
  secondsUntil,
} from "../../../functions/drain-node/decide/times.ts";
import { aNodePolicy } from "../../builders/a-policy.ts";

const AT = new Date("2026-01-01T12:00:00Z");
const DEADLINE = plusSeconds(AT, 120);

describe("when a pod is deleted past its budget", () => {
  it.each([
    ["30 s of grace, refused at once: with just its grace left", 0, 30, 20, 85],
    ["90 s of grace, refused at once: with just its grace left", 0, 90, 20, 25],
    ["110 s of grace, refused at once: right after the patience", 0, 110, 20, 20],
    ["100 s of grace and a patience of 10 s", 0, 100, 10, 15],
    ["a patience longer than half of what is left is cut to that half", 105, 30, 20, 110],
    ["case 28: a notice seen 110 s late leaves half of the 5 s left to the pod", 110, 30, 20, 112.5],
    ["no patience at all: when its grace needs it", 0, 30, 0, 85],
    ["refused in the reserve: at once", 117, 30, 20, 117],
  ])("case 30: %s", (_, refusedAt, grace, patience, expected) => {
    const when = escalationTime(plusSeconds(AT, refusedAt), grace, DEADLINE, { pdbPatienceSeconds: patience });
    expect(secondsUntil(when, AT)).toBe(expected);
  });
});

describe("how much grace a pod gets", () => {
  it.each([
    ["its own", 30, undefined, 30],
    ["no more than the policy allows", 300, 60, 60],
    ["its own where the policy allows more", 30, 60, 30],
    ["1 s where its own is 0: that would be a force deletion", 0, undefined, 1],
    ["1 s where its own is negative", -1, undefined, 1],
  ])("%s", (_, own, max, expected) => {
    const policy = aNodePolicy({ podGraceSeconds: max === undefined ? {} : { max } });
    expect(ownGraceSeconds({ graceSeconds: own }, policy)).toBe(expected);
  });

  it.each([
    [0, 115],
    [60.2, 54],
    [114, 1],
    [115, 1],
    [121, 1],
    [600, 1],
  ])("at +%d s of a notice, %d s are left, never less than 1", (now, left) => {
    expect(graceLeftSeconds(DEADLINE, plusSeconds(AT, now))).toBe(left);
  });
});

describe("when the next tier starts at the latest", () => {
  it.each([
    ["its longest grace before the last call", [10, 30], 85],
    ["60 s before the last call, however long its grace", [30, 300], 55],
    ["at the last call where it is empty", [], 115],
  ])("%s", (_, graces, expected) => {
    expect(secondsUntil(latestStart(DEADLINE, graces), AT)).toBe(expected);
  });
});
