/** Policy: sensible where it is silent, clear where it is wrong. */
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { fencingPolicies, isIgnored, policyFor, policySchema } from "../../../shared/domain/policy.ts";

const parse = (given: unknown) => policySchema.parse(given);
const faultsOf = (given: unknown) => z.prettifyError(policySchema.safeParse(given).error ?? new z.ZodError([]));

describe("an empty policy", () => {
  it("drains with a taint, 20 s of patience with budgets, and pods' own grace", () => {
    expect(parse({}).default).toMatchObject({
      pdbPatienceSeconds: 20,
      podGraceSeconds: {},
      taint: "NoSchedule",
      dryRun: false,
    });
  });
  it("fences nobody", () => {
    expect(fencingPolicies(parse({}))).toEqual([]);
  });
  it("leaves Karpenter's nodes to Karpenter", () => {
    expect(isIgnored(parse({}), { labels: { "karpenter.sh/nodepool": "default" } })).toBe(true);
    expect(isIgnored(parse({}), { labels: {} })).toBe(false);
  });
  it("can be told to drain Karpenter's nodes too", () => {
    expect(isIgnored(parse({ ignore: [] }), { labels: { "karpenter.sh/nodepool": "default" } })).toBe(false);
  });
});

describe("overrides", () => {
  const policy = parse({
    default: { pdbPatienceSeconds: 30, taint: "off" },
    overrides: [
      { selector: { matchLabels: { pool: "db" } }, policy: { pdbPatienceSeconds: 60 } },
      { selector: { matchExpressions: [{ key: "pool", operator: "Exists" }] }, policy: { dryRun: true } },
    ],
  });
  it.each([
    [
      "the first that matches wins, and what it leaves out is the default's",
      { pool: "db" },
      { pdbPatienceSeconds: 60, taint: "off", dryRun: false },
    ],
    [
      "a later one where the first doesn't match",
      { pool: "web" },
      { pdbPatienceSeconds: 30, taint: "off", dryRun: true },
    ],
    ["the default where none matches", {}, { pdbPatienceSeconds: 30, taint: "off", dryRun: false }],
  ])("%s", (_, labels, expected) => {
    expect(policyFor(policy, { labels })).toMatchObject(expected);
  });
});

describe("fencing", () => {
  const selector = { matchLabels: { pool: "db" } };
  it("can be switched on for some nodes without saying its times again", () => {
    const policy = parse({
      default: { fencing: { suspectAfterSeconds: 90 } },
      overrides: [{ selector, policy: { fencing: { enabled: true, proof: "watchdog" } } }],
    });
    expect(policyFor(policy, { labels: { pool: "db" } }).fencing).toMatchObject({
      enabled: true,
      proof: "watchdog",
      suspectAfterSeconds: 90,
      stop: "stop",
    });
    expect(policyFor(policy, { labels: {} }).fencing.enabled).toBe(false);
    expect(fencingPolicies(policy)).toHaveLength(1);
  });

  it.each([
    [
      "a default below the bound that trusts no timing",
      { default: { fencing: { safeAfterSeconds: 60 } } },
      "60 s is below the bound 3W: 3 x W 60 s + E 5 s + 2 s = 187 s",
    ],
    [
      "a default below the bound that trusts the agent's timing",
      { default: { fencing: { safeAfterSeconds: 136, bound: "G+2W" } } },
      "G 10 s + 2 x W 60 s + E 5 s + 2 s = 137 s",
    ],
    [
      "an override whose dog is slower than the default's time allows for",
      {
        default: { fencing: { safeAfterSeconds: 187 } },
        overrides: [{ selector, policy: { fencing: { watchdogTimeoutSeconds: 120 } } }],
      },
      "overrides[0].policy.fencing",
    ],
    [
      "a stop before the suspicion",
      { default: { fencing: { suspectAfterSeconds: 300, stopAfterSeconds: 200 } } },
      "comes before suspectAfterSeconds",
    ],
    ["a suspicion that a hiccup could raise", { default: { fencing: { suspectAfterSeconds: 59 } } }, "suspectAfter"],
    ["an unknown proof", { default: { fencing: { proof: "hope" } } }, "default.fencing.proof"],
  ])("refuses %s", (_, given, named) => {
    expect(faultsOf(given)).toContain(named);
  });

  it.each([
    ["the bound itself", { safeAfterSeconds: 187 }],
    ["more than the bound", { safeAfterSeconds: 600 }],
    ["the smaller bound, where the agent's timing is trusted", { safeAfterSeconds: 137, bound: "G+2W" }],
  ])("accepts %s", (_, fencing) => {
    expect(policySchema.safeParse({ default: { fencing } }).success).toBe(true);
  });
});

describe("selectors", () => {
  const ignores = (selector: unknown, labels: Record<string, string>) =>
    isIgnored(parse({ ignore: [selector] }), { labels });
  it.each([
    [{ matchLabels: { a: "1", b: "2" } }, { a: "1", b: "2", c: "3" }, true],
    [{ matchLabels: { a: "1", b: "2" } }, { a: "1" }, false],
    [{ matchExpressions: [{ key: "a", operator: "In", values: ["1", "2"] }] }, { a: "2" }, true],
    [{ matchExpressions: [{ key: "a", operator: "In", values: ["1", "2"] }] }, {}, false],
    [{ matchExpressions: [{ key: "a", operator: "NotIn", values: ["1"] }] }, {}, true],
    [{ matchExpressions: [{ key: "a", operator: "NotIn", values: ["1"] }] }, { a: "1" }, false],
    [{ matchExpressions: [{ key: "a", operator: "Exists" }] }, { a: "" }, true],
    [{ matchExpressions: [{ key: "a", operator: "DoesNotExist" }] }, { a: "" }, false],
  ])("%j on %j: %s", (selector, labels, expected) => {
    expect(ignores(selector, labels)).toBe(expected);
  });
});

describe("what is refused, naming the key", () => {
  it.each([
    [{ default: { pdbPatienceSeconds: -1 } }, "default.pdbPatienceSeconds"],
    [{ default: { pdbPatienceSeconds: "20" } }, "default.pdbPatienceSeconds"],
    [{ default: { taint: "Sometimes" } }, "default.taint"],
    [{ default: { podGraceSeconds: { max: 0 } } }, "default.podGraceSeconds.max"],
    [{ default: { dryrun: true } }, "dryrun"],
    [{ ignore: [{}] }, "names no label"],
    [{ ignore: [{ matchExpressions: [{ key: "a", operator: "In" }] }] }, "ignore[0].matchExpressions[0].values"],
    [{ overrides: [{ policy: {} }] }, "overrides[0].selector"],
    [{ requireTag: { value: "x" } }, "requireTag.name"],
    [{ v: 2 }, "v"],
  ])("%j", (given, named) => {
    expect(faultsOf(given)).toContain(named);
  });
});
