/** Each function's own client of the cluster, each of its methods called once: what the table of permissions must grant. */
import { connectCluster } from "../../../shared/adapters/kube-cluster.ts";
import type { ClusterSettings } from "../../../shared/adapters/kube-connection.ts";
import { connectFencingCluster } from "../../../shared/adapters/kube-fencing-cluster.ts";
import { FENCING_LEASE_NAMESPACE } from "../../../shared/domain/fencing-lease.ts";
import { FENCING_CONFIG_MAP, KUBELET_LEASE_NAMESPACE } from "../../../shared/domain/keys.ts";
import type { ClusterNode } from "../../../shared/domain/node.ts";
import type { Cluster, ClusterEvent } from "../../../shared/ports/cluster.ts";

const MISSING = { namespace: "default", name: "missing", uid: "00000000-0000-0000-0000-000000000000" };

/** A node `b` must be there; that other objects aren't makes no difference to the rights. */
export async function drainEverything(settings: ClusterSettings): Promise<void> {
  using connection = closing(connectCluster(settings));
  const cluster = connection.during(AbortSignal.timeout(10_000));
  const found = await getNode(cluster, "b");
  await cluster.listNodesByInstanceId(["i-0b662ef9931388ba0"]);
  await cluster.listNodes();
  await cluster.patchNode(found, { unschedulable: true });
  await cluster.listPodsOnNode("b");
  await cluster.listPodsByLabel("nodekeeper", { key: "a", value: "b" });
  await cluster.evictPod(MISSING, undefined);
  await cluster.deletePod(MISSING, 1);
  await cluster.listBudgetNames("default", { a: "b" });
  await cluster.postEvent(eventAbout(found));
}

/** The same for fencing. */
export async function fenceEverything(settings: ClusterSettings): Promise<void> {
  using connection = closing(connectFencingCluster(settings));
  const cluster = connection.during(AbortSignal.timeout(10_000));
  const found = await getNode(cluster, "b");
  await cluster.listNodes();
  await cluster.patchNode(found, { unschedulable: true });
  await cluster.listPodsOnNode("b");
  await cluster.forceDeletePod(MISSING);
  for (const namespace of [FENCING_LEASE_NAMESPACE, KUBELET_LEASE_NAMESPACE]) {
    await cluster.listLeases(namespace);
    await cluster.findLease(namespace, "b");
  }
  await cluster.findConfigMap(FENCING_CONFIG_MAP);
  const map = { ...FENCING_CONFIG_MAP, data: {} };
  await cluster.writeConfigMap({ ...map, resourceVersion: undefined });
  await cluster.writeConfigMap({ ...map, resourceVersion: "1" });
  await cluster.listVolumeAttachments("b");
  await cluster.deleteVolumeAttachment({ ...MISSING, nodeName: "b", persistentVolume: undefined });
  await cluster.deleteNode({ ...found, ...MISSING });
  await cluster.postEvent(eventAbout(found));
}

function closing<T extends { close(): void }>(connection: T): T & Disposable {
  return { ...connection, [Symbol.dispose]: () => connection.close() };
}

async function getNode(cluster: Pick<Cluster, "findNode">, name: string): Promise<ClusterNode> {
  const found = await cluster.findNode(name);
  if (found === undefined) throw new Error("the node is not there");
  return found;
}

function eventAbout({ name, uid }: ClusterNode): ClusterEvent {
  const regarding = { kind: "Node", name, uid } as const;
  return { regarding, type: "Normal", reason: "Tried", note: "a test", incident: "i", at: new Date() };
}
