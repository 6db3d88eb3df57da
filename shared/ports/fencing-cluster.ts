/**
 * What fencing asks of a Kubernetes cluster beside what a drain asks: the life signs of nodes, what ends with a dead one,
 * and a place for its own observations. A port of its own, since nobody else may force anything.
 */
import type { Lease } from "../domain/lease.ts";
import type { ClusterNode } from "../domain/node.ts";
import type { PodRef } from "../domain/pod.ts";
import type { Cluster, DeletionAnswer } from "./cluster.ts";

export interface FencingCluster
  extends Pick<Cluster, "listNodes" | "findNode" | "patchNode" | "listPodsOnNode" | "postEvent"> {
  /** All Leases of a namespace. A consistent read (no resourceVersion=0), paged to the end. */
  listLeases(namespace: string): Promise<readonly Lease[]>;
  /** A consistent read. */
  findLease(namespace: string, name: string): Promise<Lease | undefined>;
  /**
   * Deletes without grace: the pod's name is free at once, whether or not its containers have ended. Only for a node that
   * is known to be dead. `gone` also where another pod has its name.
   */
  forceDeletePod(pod: PodRef): Promise<DeletionAnswer>;
  /** Attachments of volumes to a node. The API can't select them by node: all are read, paged to the end. */
  listVolumeAttachments(nodeName: string): Promise<readonly VolumeAttachment[]>;
  deleteVolumeAttachment(attachment: VolumeAttachment): Promise<DeletionAnswer>;
  /** Under UID and resourceVersion of `node`: what has changed since it was read is `unanswered`. */
  deleteNode(node: ClusterNode): Promise<DeletionAnswer>;
  findConfigMap(ref: ConfigMapRef): Promise<ConfigMap | undefined>;
  /** Replaces what was read, or creates where nothing was (`resourceVersion` undefined). */
  writeConfigMap(
    map: Omit<ConfigMap, "resourceVersion"> & { resourceVersion: string | undefined },
  ): Promise<WriteAnswer>;
}

export interface VolumeAttachment {
  readonly name: string;
  readonly uid: string;
  readonly nodeName: string;
  /** Undefined for a volume that is named inline. */
  readonly persistentVolume: string | undefined;
}

export interface ConfigMapRef {
  readonly namespace: string;
  readonly name: string;
}

export interface ConfigMap extends ConfigMapRef {
  readonly resourceVersion: string;
  readonly data: Readonly<Record<string, string>>;
}

export type WriteAnswer =
  | { readonly kind: "written"; readonly resourceVersion: string }
  /** Somebody else wrote first (409). */
  | { readonly kind: "conflict" };
