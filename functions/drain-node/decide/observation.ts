/** What an urgent drain is decided from: one look at a cordoned node. */
import type { DrainRecord } from "../../../shared/domain/drain-record.ts";
import type { ClusterNode } from "../../../shared/domain/node.ts";
import type { Pod } from "../../../shared/domain/pod.ts";
import type { NodePolicy } from "../../../shared/domain/policy.ts";
import type { Signal } from "../../../shared/domain/signal.ts";

export interface Observation {
  readonly now: Date;
  readonly signal: Signal;
  readonly node: Pick<ClusterNode, "ready">;
  readonly pods: readonly Pod[];
  readonly policy: NodePolicy;
  /** The record on the Node; undefined where none could be written. */
  readonly record: DrainRecord | undefined;
  /** Whether a Ready pod of the relay runs on another node. */
  readonly relayElsewhere: boolean;
}

/** Nobody hears of the kubelet: it can neither use a grace nor confirm an end. */
export function isUnreachable(seen: Observation): boolean {
  return seen.node.ready === "Unknown";
}

/** A waiting urgent node is looked at this often. */
export const LOOK_SECONDS = 3;
