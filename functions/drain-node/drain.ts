/** One drain under way: the signal, its node as last read, and the policy that holds for it. */
import { type DrainRecord, readDrainRecord } from "../../shared/domain/drain-record.ts";
import { DRAIN_ANNOTATION } from "../../shared/domain/keys.ts";
import type { ClusterNode } from "../../shared/domain/node.ts";
import type { NodePolicy } from "../../shared/domain/policy.ts";
import { type Signal, signalName } from "../../shared/domain/signal.ts";

export interface Drain {
  readonly signal: Signal;
  readonly node: ClusterNode;
  readonly policy: NodePolicy;
  /** Whether this very invocation wrote the cordon. */
  readonly cordonedNow: boolean;
}

/** The record of the drain that is under way, or was last, on a node; undefined where there is none that we understand. */
export function recordOn(node: ClusterNode): DrainRecord | undefined {
  const reading = readDrainRecord(node.annotations[DRAIN_ANNOTATION]);
  return reading.kind === "record" ? reading.record : undefined;
}

/** What Events of a drain belong to: the signal that the Node's record names, so that a second notice of the same tells nothing twice. */
export function incidentOf({ node, signal }: Drain): string {
  return recordOn(node)?.signal ?? signalName(signal);
}
