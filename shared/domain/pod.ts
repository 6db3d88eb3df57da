/** A Kubernetes Pod as far as our decisions need it. */
import type { LabelMap } from "./selector.ts";

export interface Toleration {
  /** Undefined tolerates every key. */
  readonly key: string | undefined;
}

export interface PodRef {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

export interface Pod extends PodRef {
  readonly nodeName: string | undefined;
  readonly phase: "Pending" | "Running" | "Succeeded" | "Failed" | "Unknown";
  readonly ready: boolean;
  readonly labels: LabelMap;
  readonly annotations: LabelMap;
  /** Owner reference with `controller: true`. */
  readonly controller: { readonly apiVersion: string; readonly kind: string; readonly name: string } | undefined;
  readonly tolerations: readonly Toleration[];
  readonly priorityClassName: string | undefined;
  /** `spec.terminationGracePeriodSeconds`; 30 where unset, which is the API server's default. */
  readonly graceSeconds: number;
  /** `metadata.deletionTimestamp`: when its grace ends, not when the deletion was asked for. */
  readonly deletionTimestamp: Date | undefined;
}

export function podName(pod: Pick<PodRef, "namespace" | "name">): string {
  return `${pod.namespace}/${pod.name}`;
}
