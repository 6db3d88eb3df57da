/** What one patch must write on a Node so that nothing new lands there and everyone can see why. */
import { type DrainRecord, writeDrainRecord } from "../../../shared/domain/drain-record.ts";
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
import { reasonFor, recordFor } from "./record.ts";

export type CordonDecision =
  | { readonly kind: "cordon"; readonly change: NodeChange; readonly because: string }
  | { readonly kind: "nothing"; readonly because: string };

export interface CordonWish {
  readonly signal: Signal;
  readonly policy: NodePolicy;
  readonly now: Date;
  /** Set where admission has just refused the whole: then the taint is left out, and the record says why. */
  readonly taintRefused?: string;
}

/** Deciding again after the change was made answers `nothing`. */
export function decideCordon(node: ClusterNode, { signal, policy, now, taintRefused }: CordonWish): CordonDecision {
  const standing = recordFor(node, signal, now);
  const record = standing && taintRefused !== undefined ? { ...standing, taintRefused } : standing;
  const isRefused = taintRefused !== undefined || record?.taintRefused !== undefined;
  const change: NodeChange = {
    ...(node.unschedulable ? {} : { unschedulable: true }),
    ...labelsToSet(node, signal, record),
    ...annotationsToSet(node, signal, record),
    ...(isRefused ? {} : taintsToSet(node, signal, policy)),
  };
  if (Object.keys(change).length === 0) return { kind: "nothing", because: "node is cordoned already" };
  return { kind: "cordon", change, because: reasonFor(signal) };
}

function labelsToSet(node: ClusterNode, signal: Signal, record: DrainRecord | undefined): Pick<NodeChange, "labels"> {
  const wanted: Record<string, string> = {};
  if (node.labels[INSTANCE_ID_LABEL] !== signal.instanceId) wanted[INSTANCE_ID_LABEL] = signal.instanceId;
  // A node whose drain is over keeps saying how it ended.
  const isOver = record?.endedAt !== undefined;
  if (!isOver && node.labels[DRAINING_LABEL] !== "involuntary") wanted[DRAINING_LABEL] = "involuntary";
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
  const text = record && writeDrainRecord(record);
  if (text !== undefined && text !== node.annotations[DRAIN_ANNOTATION]) wanted[DRAIN_ANNOTATION] = text;
  return Object.keys(wanted).length > 0 ? { annotations: wanted } : {};
}

function taintsToSet(node: ClusterNode, signal: Signal, policy: NodePolicy): Pick<NodeChange, "taints"> {
  const effect = policy.taint;
  if (effect === "off") return {};
  if (node.taints.some((taint) => taint.key === INTERRUPTION_TAINT && taint.effect === effect)) return {};
  const ours: Taint = { key: INTERRUPTION_TAINT, value: signal.kind, effect };
  return { taints: [...node.taints, ours] };
}
