/**
 * What we ask of a Kubernetes cluster, in our own words. An adapter translates every expected answer into a value
 * of these unions; it throws `ClusterUnavailable` where a later try can help, and `ClusterRefused` where only an operator
 * can. Whoever calls knows no HTTP status and no Kubernetes object.
 */
import type { ClusterNode, NodeChange } from "../domain/node.ts";
import type { Pod, PodRef } from "../domain/pod.ts";

export interface Cluster {
  /**
   * Nodes whose instance-id label is one of `instanceIds`, in one request. A hit is a hint: the caller compares
   * providerID.
   */
  listNodesByInstanceId(instanceIds: readonly string[]): Promise<readonly ClusterNode[]>;
  /**
   * All nodes: a consistent read, paged to the end. In one answer 5000 nodes are 65 MiB, most of it their images, and only
   * the watch cache would give them so (resourceVersion=0 takes no `limit`).
   */
  listNodes(): Promise<readonly ClusterNode[]>;
  findNode(name: string): Promise<ClusterNode | undefined>;
  /** One merge patch under `resourceVersion` of `node`; without the precondition if `unconditional`. */
  patchNode(node: ClusterNode, change: NodeChange, options?: { unconditional: boolean }): Promise<NodePatchAnswer>;
  /** Pods bound to a node, in all namespaces. A consistent read (no resourceVersion=0), paged to the end. */
  listPodsOnNode(nodeName: string): Promise<readonly Pod[]>;
  /** Pods of a namespace with a label, from the API server's watch cache. */
  listPodsByLabel(namespace: string, label: { key: string; value: string }): Promise<readonly Pod[]>;
  /** Asks the budgets. `graceSeconds` only to shorten: an eviction could also lengthen a pod's grace. */
  evictPod(pod: PodRef, graceSeconds: number | undefined): Promise<EvictionAnswer>;
  /** Deletes past the budgets; at least 1 s of grace, for 0 would be a force deletion. */
  deletePod(pod: PodRef, graceSeconds: number): Promise<DeletionAnswer>;
  /** Names of the PodDisruptionBudgets that select a pod with these labels. */
  listBudgetNames(namespace: string, labels: Pod["labels"]): Promise<readonly string[]>;
  /** Posts a Kubernetes Event. The same event posted twice is one Event. */
  postEvent(event: ClusterEvent): Promise<void>;
}

export type NodePatchAnswer =
  | { readonly kind: "patched"; readonly node: ClusterNode }
  /** Someone else wrote the Node first (409). */
  | { readonly kind: "conflict" }
  | { readonly kind: "gone" }
  /** Admission, validation or RBAC said no (403, 422). */
  | { readonly kind: "refused"; readonly because: string };

export type EvictionAnswer =
  | { readonly kind: "evicted" }
  /** The pod is gone, or another one has its name. */
  | { readonly kind: "gone" }
  /** A PodDisruptionBudget refused; `budget` is undefined where the answer doesn't name it. */
  | { readonly kind: "blocked"; readonly budget: string | undefined; readonly because: string }
  /** API priority and fairness: not the pod's fault. */
  | { readonly kind: "throttled"; readonly retryAfterSeconds: number }
  | { readonly kind: "namespace-terminating" }
  /** 5xx, a time-out, a reset: nobody knows whether it happened. */
  | { readonly kind: "unanswered"; readonly because: string }
  | { readonly kind: "refused"; readonly because: string };

export type DeletionAnswer =
  | { readonly kind: "deleted" }
  | { readonly kind: "gone" }
  | { readonly kind: "throttled"; readonly retryAfterSeconds: number }
  | { readonly kind: "unanswered"; readonly because: string }
  | { readonly kind: "refused"; readonly because: string };

export interface ClusterEvent {
  readonly regarding:
    | { readonly kind: "Node"; readonly name: string; readonly uid: string }
    | ({ readonly kind: "Pod" } & PodRef);
  readonly type: "Normal" | "Warning";
  /** UpperCamelCase, a constant. */
  readonly reason: string;
  readonly note: string;
  /** What the event belongs to (a signal's name): one Event per regarding, reason and incident. */
  readonly incident: string;
  readonly at: Date;
}

/** The cluster didn't answer, or only said "later": 5xx, 429, time-out, reset, or the invocation's time is over. */
export class ClusterUnavailable extends Error {
  override readonly name = "ClusterUnavailable";
  readonly retryAfterSeconds: number;
  constructor(message: string, options: { cause?: unknown; retryAfterSeconds?: number } = {}) {
    super(message, { cause: options.cause });
    this.retryAfterSeconds = options.retryAfterSeconds ?? 1;
  }
}

/** The cluster said no (401, 403, 4xx): rights or a fault of ours, for an operator to mend. */
export class ClusterRefused extends Error {
  override readonly name = "ClusterRefused";
}

/** Whether the cluster is what went wrong, and not we. */
export function isClusterError(error: unknown): error is ClusterUnavailable | ClusterRefused {
  return error instanceof ClusterUnavailable || error instanceof ClusterRefused;
}
