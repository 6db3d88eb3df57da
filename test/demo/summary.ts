/** The last word of the demo: a table of what happened to each interrupted node, and to everything else. Pure. */
import { type Cell, grid, header, seconds } from "./grid.ts";
import type { NodeProgress } from "./progress.ts";
import { count, type Escalation, faultsOf, type Report } from "./report.ts";
import type { Paint } from "./terminal.ts";

export function renderSummary(report: Report, paint: Paint): readonly string[] {
  return [
    "",
    paint("bold", "Summary"),
    "",
    ...grid(
      [
        header("NODE", "STATE", "CORDONED", "EMPTY", "BEFORE DEADLINE", "ESCALATED"),
        ...report.nodes.map((node) => row(node, report.escalations)),
      ],
      paint,
    ),
    "",
    ...grid(rest(report), paint),
    "",
    ...verdict(report, paint),
  ];
}

function row(node: NodeProgress, escalations: readonly Escalation[]): readonly Cell[] {
  const own = escalations.filter(({ nodeName }) => nodeName === node.name);
  return [
    { text: node.name, style: "bold" },
    { text: node.state, style: node.state === "drained" ? "green" : "red" },
    { text: seconds(node.cordonedAfter) },
    { text: seconds(node.emptyAfter) },
    { text: seconds(node.secondsLeft) },
    { text: own.map(describeEscalation).join("; ") || "-" },
  ];
}

function describeEscalation({ pod, budget, refusedForSeconds, graceSeconds }: Escalation): string {
  const since = refusedForSeconds === undefined ? "" : ` (refused for ${refusedForSeconds.toFixed(0)} s)`;
  return `${pod} past budget ${budget}${since}, grace ${graceSeconds} s`;
}

function rest(report: Report): readonly (readonly Cell[])[] {
  const { otherNodes, touched, deadLetters, messagesLeft, setupSeconds, dramaSeconds } = report;
  const others = touched.length === 0 ? `${otherNodes} of ${otherNodes} untouched` : count(touched.length, "change");
  return [
    [{ text: "other nodes" }, { text: others }],
    [{ text: "dead letters" }, { text: String(deadLetters.length) }],
    [{ text: "queue" }, { text: messagesLeft === 0 ? "empty" : count(messagesLeft, "message") }],
    [{ text: "time" }, { text: `${seconds(setupSeconds)} to set up, ${seconds(dramaSeconds)} from notice to end` }],
  ];
}

function verdict(report: Report, paint: Paint): readonly string[] {
  const faults = faultsOf(report);
  const { length } = report.nodes;
  if (faults.length === 0) return [paint("green", `demo passed: ${length} of ${length} nodes drained in time`)];
  return [paint("red", "demo failed:"), ...faults.map((fault) => `  - ${fault}`)];
}
