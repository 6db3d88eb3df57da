/** One drain under way: the signal, its node as last read, and the policy that holds for it. */
import type { ClusterNode } from "../../shared/domain/node.ts";
import type { NodePolicy } from "../../shared/domain/policy.ts";
import type { Signal } from "../../shared/domain/signal.ts";

export interface Drain {
  readonly signal: Signal;
  readonly node: ClusterNode;
  readonly policy: NodePolicy;
  /** Whether this very invocation wrote the cordon. */
  readonly cordonedNow: boolean;
}

/**
 * What Events of a drain belong to: an instance is interrupted once in the life of its kernel, however often and under
 * whatever ids the notice comes.
 */
export function incidentOf({ node, signal }: Drain): string {
  return `${signal.kind}/${node.bootId ?? node.uid}`;
}
