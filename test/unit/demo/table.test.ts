import { describe, expect, test } from "vitest";
import { beforeTheNotice, type NodeProgress } from "../../demo/progress.ts";
import { renderTable } from "../../demo/table.ts";
import type { Paint } from "../../demo/terminal.ts";

const plain: Paint = (_style, text) => text;
const marked: Paint = (style, text) => `<${style}>${text}</>`;
const ROWS = 24;

const HELD: NodeProgress = {
  ...beforeTheNotice("node-01", 1),
  state: "draining",
  heldBy: ["shop/checkout-0 blocked by budget checkout-budget"],
};
const DRAINED: NodeProgress = { ...beforeTheNotice("node-02", 0), state: "drained", drainedAfter: 6.25 };
const FACTS = { nodes: [HELD, DRAINED], secondsSinceNotice: 9.5, otherNodes: 8 };

describe("the live table", () => {
  test("shows each node in a row, in columns", () => {
    expect(renderTable(FACTS, plain, ROWS)).toEqual([
      "Spot interruption of 2 of 10 nodes   9.5 s since the notice, 110.5 s left",
      "",
      "NODE     STATE     PODS LEFT  SECONDS  HELD BY",
      "node-01  draining  1          9.5 s    shop/checkout-0 blocked by budget checkout-budget",
      "node-02  drained   0          6.3 s",
      "",
      "drained: 1 of 2",
    ]);
  });

  test("keeps its columns with colours", () => {
    const row = renderTable(FACTS, marked, ROWS)[4];
    expect(row).toBe("<bold>node-02</>  <green>drained</>   0          6.3 s");
  });

  test("never has more lines than the screen, and says how many nodes it leaves out", () => {
    const nodes = Array.from({ length: 50 }, (_, n) => beforeTheNotice(`node-${n}`, 3));
    const lines = renderTable({ ...FACTS, nodes }, plain, ROWS);
    expect(lines.length).toBeLessThan(ROWS);
    expect(lines.at(-1)).toBe("and 32 more; drained: 0 of 50");
  });
});
