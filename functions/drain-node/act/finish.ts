/** How a drain ends: its record and label on the Node, an Event, and the message acknowledged or set aside. */
import type { DrainRecord } from "../../../shared/domain/drain-record.ts";
import { DRAINING_LABEL } from "../../../shared/domain/keys.ts";
import { deadLetter, done } from "../../../shared/domain/outcome.ts";
import { podName } from "../../../shared/domain/pod.ts";
import type { Step } from "../decide/step.ts";
import { secondsUntil } from "../decide/times.ts";
import type { Verdict } from "../decide/verdict.ts";
import type { Drain } from "../drain.ts";
import type { DrainTools } from "../tools.ts";
import { type Ending, tellEnded } from "./tell.ts";
import { writeRecord } from "./write-record.ts";

export async function finishDrained(
  drain: Drain,
  empty: Extract<Step, { kind: "looks-empty" }>,
  tools: DrainTools,
): Promise<Verdict> {
  const { signal, node } = drain;
  const now = tools.clock.now();
  const secondsLeft = secondsUntil(signal.deadline, now);
  const secondsSinceEvent = secondsUntil(now, signal.at);
  const because = `empty ${Math.round(secondsSinceEvent)} s after the notice, ${Math.round(secondsLeft)} s before the deadline; ${empty.because}`;
  await end(drain, { how: "drained", because }, tools);
  tools.note({ kind: "emptied", nodeName: node.name, secondsSinceEvent, secondsLeft });
  if (empty.stuck.length > 0) tools.note({ kind: "pods-stuck", nodeName: node.name, pods: empty.stuck.map(podName) });
  return { decision: "drained", outcome: done(because) };
}

export async function finishUnreachable(drain: Drain, because: string, tools: DrainTools): Promise<Verdict> {
  await end(drain, { how: "unreachable", because }, tools);
  return { decision: "unreachable", outcome: done(because) };
}

export async function finishGivenUp(drain: Drain, because: string, tools: DrainTools): Promise<Verdict> {
  const left = `gave up 5 min after the deadline: ${because}`;
  await end(drain, { how: "gave-up", because: left }, tools);
  return { decision: "gave-up", outcome: deadLetter(left) };
}

async function end(drain: Drain, ending: Ending, tools: DrainTools): Promise<void> {
  const { how: decision, because } = ending;
  const endedAt = tools.clock.now().toISOString();
  // The first end stands, for a message may come twice; only an empty node corrects a worse one.
  const corrects = (record: DrainRecord) => decision === "drained" && record.decision !== "drained";
  const next = (record: DrainRecord): DrainRecord =>
    record.endedAt === undefined || corrects(record) ? { ...record, decision, because, endedAt } : record;
  const labels = decision === "drained" ? { [DRAINING_LABEL]: "drained" } : {};
  await Promise.all([writeRecord(drain.node, { next, labels }, tools), tellEnded(ending, drain, tools)]);
}
