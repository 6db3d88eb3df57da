/** A Kubernetes Node as far as our decisions need it. */
import type { LabelMap } from "./selector.ts";

export type TaintEffect = "NoSchedule" | "PreferNoSchedule" | "NoExecute";

export interface Taint {
  readonly key: string;
  readonly value?: string;
  readonly effect: TaintEffect;
  /** RFC 3339, kept as it came: a merge patch replaces the whole list, so what is here must go back unchanged. */
  readonly timeAdded?: string;
}

export interface ClusterNode {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly providerId: string | undefined;
  readonly labels: LabelMap;
  readonly annotations: LabelMap;
  readonly taints: readonly Taint[];
  readonly unschedulable: boolean;
  /** Status of the Ready condition; `Unknown` is what the node controller writes when the kubelet is silent. */
  readonly ready: "True" | "False" | "Unknown";
  readonly bootId: string | undefined;
  readonly createdAt: Date;
}

/** What one merge patch changes on a Node. A label or annotation that is `undefined` is removed. */
export interface NodeChange {
  readonly unschedulable?: boolean;
  readonly labels?: Readonly<Record<string, string | undefined>>;
  readonly annotations?: Readonly<Record<string, string | undefined>>;
  /** The whole list: a merge patch replaces it. */
  readonly taints?: readonly Taint[];
}
