/** A cluster to run the contract on: the port under test, and the hands by which a test prepares and looks. */
import type { ClusterNode } from "../../../shared/domain/node.ts";
import type { Pod, PodRef } from "../../../shared/domain/pod.ts";
import type { Cluster } from "../../../shared/ports/cluster.ts";
import type { FencingCluster } from "../../../shared/ports/fencing-cluster.ts";

export interface World extends AsyncDisposable {
  readonly cluster: Cluster;
  /** The same cluster by the port of fencing. */
  readonly fencing: FencingCluster;
  /** The same cluster as another process sees it, which has posted no Events yet. */
  otherProcess(): Cluster;
  addNode(given: Partial<ClusterNode> & { name: string }): Promise<void>;
  removeNode(name: string): Promise<void>;
  /** Somebody else writes the Node. */
  touchNode(name: string): Promise<void>;
  /** Its namespace is made where needed. Nothing ends it before its grace is over. */
  addPod(given: Partial<Pod> & { name: string; namespace: string }): Promise<Pod>;
  /** Gone at once, without grace. */
  removePod(pod: PodRef): Promise<void>;
  /** In force when it resolves. */
  addBudget(budget: BudgetSeed): Promise<void>;
  ensureNamespace(name: string): Promise<void>;
  /** Makes a Lease, or renews it; its namespace is made where needed. */
  putLease(lease: LeaseInWorld): Promise<void>;
  putVolumeAttachment(attachment: { name: string; nodeName: string; persistentVolume: string }): Promise<void>;
  terminateNamespace(name: string): Promise<void>;
  listEvents(namespace: string): Promise<readonly PostedEvent[]>;
}

export interface LeaseInWorld {
  readonly namespace: string;
  readonly name: string;
  readonly renewTime: Date;
  readonly annotations: Readonly<Record<string, string>>;
}

export interface BudgetSeed {
  readonly namespace: string;
  readonly name: string;
  /** Empty: every pod of the namespace. */
  readonly matchLabels: Readonly<Record<string, string>>;
  readonly minAvailable: number;
}

export interface PostedEvent {
  readonly name: string;
  readonly type: string;
  readonly reason: string;
  readonly note: string;
  readonly uid: string;
}
