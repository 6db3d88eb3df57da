/** Policy: sensible where it is silent, clear where it is wrong. */
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { isIgnored, policyFor, policySchema } from "../../../shared/domain/policy.ts";

const parse = (given: unknown) => policySchema.parse(given);
const faultsOf = (given: unknown) => z.prettifyError(policySchema.safeParse(given).error ?? new z.ZodError([]));

describe("an empty policy", () => {
  it("drains with a taint, 20 s of patience with budgets, and pods' own grace", () => {
    expect(parse({}).default).toEqual({
      pdbPatienceSeconds: 20,
      podGraceSeconds: {},
      taint: "NoSchedule",
      dryRun: false,
    });
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
