import { describe, expect, test } from "vitest";
import { beforeTheNotice, type NodeProgress } from "../../demo/progress.ts";
import { faultsOf, type Report } from "../../demo/report.ts";
import { renderSummary } from "../../demo/summary.ts";
import type { Paint } from "../../demo/terminal.ts";

const plain: Paint = (_style, text) => text;

const DRAINED: NodeProgress = {
  ...beforeTheNotice("node-01", 0),
  ...{ state: "drained", cordonedAfter: 0.5, emptyAfter: 18.2, drainedAfter: 20.4, secondsLeft: 99.6 },
};
const GOOD: Report = {
  nodes: [DRAINED],
  escalations: [
    {
      ...{ nodeName: "node-01", pod: "shop/checkout-0", budget: "checkout-budget" },
      ...{ refusedForSeconds: 14.2, graceSeconds: 100 },
    },
  ],
  ...{ otherNodes: 7, touched: [], deadLetters: [], messagesLeft: 0, setupSeconds: 12.1, dramaSeconds: 20.4 },
};

describe("the summary", () => {
  test("of a good run tells times, escalations with their budget, and the rest", () => {
    expect(renderSummary(GOOD, plain)).toEqual([
      "",
      "Summary",
      "",
      "NODE     STATE    CORDONED  EMPTY   BEFORE DEADLINE  ESCALATED",
      "node-01  drained  0.5 s     18.2 s  99.6 s           shop/checkout-0 past budget checkout-budget (refused for 14 s), grace 100 s",
      "",
      "other nodes   7 of 7 untouched",
      "dead letters  0",
      "queue         empty",
      "time          12.1 s to set up, 20.4 s from notice to end",
      "",
      "demo passed: 1 of 1 nodes drained in time",
    ]);
  });

  test("of a bad run ends with every fault", () => {
    const bad: Report = {
      ...GOOD,
      nodes: [{ ...DRAINED, state: "draining", podsLeft: 1 }],
      deadLetters: ["unreadable"],
    };
    expect(renderSummary(bad, plain).slice(-4)).toEqual([
      "demo failed:",
      "  - node-01 is draining, not drained",
      "  - node-01 still has 1 pod",
      "  - dead letter: unreadable",
    ]);
  });

  test("shows an escalation only at its own node", () => {
    const other = { ...DRAINED, name: "node-02" };
    const lines = renderSummary({ ...GOOD, nodes: [DRAINED, other] }, plain);
    expect(lines.find((line) => line.startsWith("node-02"))).toMatch(/99\.6 s\s+-$/);
  });
});

describe("the demo fails", () => {
  const failsWith = (report: Partial<Report>) => faultsOf({ ...GOOD, ...report });

  test("not, if all is well", () => {
    expect(faultsOf(GOOD)).toEqual([]);
  });

  test.each<[string, Partial<Report>, RegExp]>([
    ["a node isn't drained", { nodes: [{ ...DRAINED, state: "cordoned" }] }, /node-01 is cordoned, not drained/],
    [
      "pods are left, and says what holds them",
      { nodes: [{ ...DRAINED, podsLeft: 2, heldBy: ["shop/a blocked by budget b"] }] },
      /node-01 still has 2 pods: shop\/a blocked by budget b/,
    ],
    ["a node was late", { nodes: [{ ...DRAINED, secondsLeft: -1 }] }, /after its deadline/],
    ["another node was touched", { touched: ["node-09 had no notice, and lost shop/web-9"] }, /node-09/],
    ["there are dead letters", { deadLetters: ["gave up"] }, /dead letter: gave up/],
    ["messages are left", { messagesLeft: 1 }, /1 message left in the queue/],
  ])("if %s", (_, report, expected) => {
    expect(failsWith(report)).toEqual([expect.stringMatching(expected)]);
  });
});
