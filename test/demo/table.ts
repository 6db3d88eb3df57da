/** The live table: how far every interrupted node is, drawn again and again. Pure. */
import { type Cell, grid, header, seconds } from "./grid.ts";
import type { NodeProgress } from "./progress.ts";
import type { Paint, Style } from "./terminal.ts";

export interface TableFacts {
  readonly nodes: readonly NodeProgress[];
  readonly secondsSinceNotice: number;
  /** Of the whole cluster, those without a notice. */
  readonly otherNodes: number;
}

/** What EC2 gives. */
const NOTICE_SECONDS = 120;
/** Title, blank line, column heads, blank line, last line, and the cursor's own. */
const LINES_AROUND = 6;

const STATE_STYLES: Readonly<Record<NodeProgress["state"], Style>> = {
  running: "dim",
  cordoned: "yellow",
  draining: "yellow",
  drained: "green",
};

/** @param rows lines that fit on the screen: nodes that don't are counted in the last line. */
export function renderTable(facts: TableFacts, paint: Paint, rows: number): readonly string[] {
  const { nodes, secondsSinceNotice, otherNodes } = facts;
  const shown = nodes.slice(0, Math.max(1, rows - LINES_AROUND));
  const more = nodes.length - shown.length;
  const drained = nodes.filter(({ state }) => state === "drained").length;
  const title = `Spot interruption of ${nodes.length} of ${nodes.length + otherNodes} nodes`;
  const time = `${seconds(secondsSinceNotice)} since the notice, ${seconds(NOTICE_SECONDS - secondsSinceNotice)} left`;
  return [
    `${paint("bold", title)}   ${time}`,
    "",
    ...grid(
      [header("NODE", "STATE", "PODS LEFT", "SECONDS", "HELD BY"), ...shown.map((one) => row(one, secondsSinceNotice))],
      paint,
    ),
    "",
    `${more > 0 ? `and ${more} more; ` : ""}drained: ${drained} of ${nodes.length}`,
  ];
}

/** A drained node's seconds stand still. */
function row(node: NodeProgress, secondsSinceNotice: number): readonly Cell[] {
  return [
    { text: node.name, style: "bold" },
    { text: node.state, style: STATE_STYLES[node.state] },
    { text: String(node.podsLeft) },
    { text: seconds(node.drainedAfter ?? secondsSinceNotice) },
    { text: node.heldBy.join("; "), style: "red" },
  ];
}
