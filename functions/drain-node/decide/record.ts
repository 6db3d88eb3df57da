/** Which drain the record on a Node tells of: the one that is there, or a new one. */
import { type DrainRecord, readDrainRecord } from "../../../shared/domain/drain-record.ts";
import { DRAIN_ANNOTATION } from "../../../shared/domain/keys.ts";
import type { ClusterNode } from "../../../shared/domain/node.ts";
import { type Signal, signalName } from "../../../shared/domain/signal.ts";

/** The record of the drain that is under way, or was last, on a node; undefined where there is none that we understand. */
export function recordOn(node: Pick<ClusterNode, "annotations">): DrainRecord | undefined {
  const reading = readDrainRecord(node.annotations[DRAIN_ANNOTATION]);
  return reading.kind === "record" ? reading.record : undefined;
}

/** Whether a drain of ours goes on there. */
export function isUnderWay(node: Pick<ClusterNode, "annotations" | "unschedulable">): boolean {
  const record = recordOn(node);
  return node.unschedulable && record !== undefined && record.endedAt === undefined;
}

/** The record that should stand on the Node for `signal`; undefined where one of an unknown version must be left alone. */
export function recordFor(node: ClusterNode, signal: Signal, now: Date): DrainRecord | undefined {
  const current = readDrainRecord(node.annotations[DRAIN_ANNOTATION]);
  switch (current.kind) {
    case "none":
      return freshRecord(signal, now);
    case "unknown":
      return undefined;
    case "record":
      if (!takesOver(signal, current.record, node)) return current.record;
      return { ...freshRecord(signal, now), ...refusalsOf(current.record) };
  }
}

/** Why the node is drained, in a sentence for people. */
export function reasonFor(signal: Signal): string {
  switch (signal.kind) {
    case "spot-interruption":
      return `EC2 will ${signal.action} the spot instance`;
  }
}

function freshRecord(signal: Signal, now: Date): DrainRecord {
  return {
    v: 1,
    signal: signalName(signal),
    decision: "draining",
    because: reasonFor(signal),
    deadline: signal.deadline.toISOString(),
    startedAt: now.toISOString(),
  };
}

/**
 * A drain that is over gives way once the node was put to use again, or to a signal that came later; one that goes on only to a
 * signal that leaves less time. Notices of one interruption may come twice, under two ids.
 */
function takesOver(signal: Signal, record: DrainRecord, node: ClusterNode): boolean {
  if (record.endedAt !== undefined && !node.unschedulable) return true;
  if (record.signal === signalName(signal)) return false;
  if (record.endedAt !== undefined) return signal.at.getTime() > Date.parse(record.endedAt);
  return signal.deadline.getTime() < Date.parse(record.deadline);
}

/** Refusals of a drain that goes on keep counting. */
function refusalsOf(record: DrainRecord): Pick<DrainRecord, "blockedSince"> {
  if (record.endedAt !== undefined || !record.blockedSince) return {};
  return { blockedSince: record.blockedSince };
}
