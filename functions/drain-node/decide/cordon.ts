/** What one patch must write on a Node so that nothing new lands there and everyone can see why. */
import { type DrainRecord, readDrainRecord, writeDrainRecord } from "../../../shared/domain/drain-record.ts";
import {
  CORDONED_BY_ANNOTATION,
  DRAIN_ANNOTATION,
  DRAINING_LABEL,
  INSTANCE_ID_LABEL,
  INTERRUPTION_TAINT,
} from "../../../shared/domain/keys.ts";
import type { ClusterNode, NodeChange, Taint } from "../../../shared/domain/node.ts";
import type { NodePolicy } from "../../../shared/domain/policy.ts";
import { type Signal, signalName } from "../../../shared/domain/signal.ts";

export type CordonDecision =
  | { readonly kind: "cordon"; readonly change: NodeChange; readonly because: string }
  | { readonly kind: "nothing"; readonly because: string };

/** Deciding again after the change was made answers `nothing`. */
export function decideCordon(node: ClusterNode, signal: Signal, policy: NodePolicy, now: Date): CordonDecision {
  const record = recordFor(node, signal, now);
  const change: NodeChange = {
    ...(node.unschedulable ? {} : { unschedulable: true }),
    ...labelsToSet(node, signal),
    ...annotationsToSet(node, signal, record),
    ...taintsToSet(node, signal, policy),
  };
  if (Object.keys(change).length === 0) return { kind: "nothing", because: "node is cordoned already" };
  return { kind: "cordon", change, because: because(signal) };
}

/** Why the node is drained, in a sentence for people. */
export function because(signal: Signal): string {
  switch (signal.kind) {
    case "spot-interruption":
      return `EC2 will ${signal.action} the spot instance`;
  }
}

function labelsToSet(node: ClusterNode, signal: Signal): Pick<NodeChange, "labels"> {
  const wanted: Record<string, string> = {};
  if (node.labels[INSTANCE_ID_LABEL] !== signal.instanceId) wanted[INSTANCE_ID_LABEL] = signal.instanceId;
  // A node whose drain is over, and to which the signal adds nothing, keeps saying how it ended.
  const current = readDrainRecord(node.annotations[DRAIN_ANNOTATION]);
  const drained =
    current.kind === "record" && current.record.endedAt !== undefined && !takesOver(current.record, signal);
  if (!drained && node.labels[DRAINING_LABEL] !== "involuntary") wanted[DRAINING_LABEL] = "involuntary";
  return Object.keys(wanted).length > 0 ? { labels: wanted } : {};
}

function annotationsToSet(
  node: ClusterNode,
  signal: Signal,
  record: DrainRecord | undefined,
): Pick<NodeChange, "annotations"> {
  const wanted: Record<string, string> = {};
  // Who cordoned before us keeps the cordon: we mark, and later lift, only our own.
  if (!node.unschedulable) wanted[CORDONED_BY_ANNOTATION] = signalName(signal);
  if (record) wanted[DRAIN_ANNOTATION] = writeDrainRecord(record);
  return Object.keys(wanted).length > 0 ? { annotations: wanted } : {};
}

/** The record to write, or undefined where the one on the Node stands. */
function recordFor(node: ClusterNode, signal: Signal, now: Date): DrainRecord | undefined {
  const current = readDrainRecord(node.annotations[DRAIN_ANNOTATION]);
  const fresh: DrainRecord = {
    v: 1,
    signal: signalName(signal),
    decision: "draining",
    because: because(signal),
    deadline: signal.deadline.toISOString(),
    startedAt: now.toISOString(),
  };
  switch (current.kind) {
    case "none":
      return fresh;
    case "unknown":
      return undefined;
    case "record":
      return takesOver(current.record, signal) ? { ...fresh, ...carriedOver(current.record) } : undefined;
  }
}

/**
 * A second signal writes itself down only if it came after the first one's drain was over, or if it leaves less time:
 * notices of one interruption may come twice under two ids.
 */
function takesOver(record: DrainRecord, signal: Signal): boolean {
  if (record.signal === signalName(signal)) return false;
  if (record.endedAt !== undefined) return signal.at.getTime() > Date.parse(record.endedAt);
  return signal.deadline.getTime() < Date.parse(record.deadline);
}

/** Refusals of the same incident keep counting. */
function carriedOver(record: DrainRecord): Pick<DrainRecord, "blockedSince"> {
  if (record.endedAt !== undefined || !record.blockedSince) return {};
  return { blockedSince: record.blockedSince };
}

function taintsToSet(node: ClusterNode, signal: Signal, policy: NodePolicy): Pick<NodeChange, "taints"> {
  const effect = policy.taint;
  if (effect === "off") return {};
  if (node.taints.some((taint) => taint.key === INTERRUPTION_TAINT && taint.effect === effect)) return {};
  const ours: Taint = { key: INTERRUPTION_TAINT, value: signal.kind, effect };
  return { taints: [...node.taints, ours] };
}
