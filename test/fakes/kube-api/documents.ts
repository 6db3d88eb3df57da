/** Writes the model's values as JSON documents, as the Kubernetes API has them in lists: without kind and version. */
import type { ClusterNode } from "../../../shared/domain/node.ts";
import type { Pod } from "../../../shared/domain/pod.ts";
import type { StoredEvent } from "./bodies.ts";
import type { Budget } from "./budgets.ts";
import type { ConfigMapData, LeaseSeed, VolumeAttachmentSeed } from "./cluster-model.ts";
import type { Stored } from "./stored-objects.ts";

export function nodeDocument(node: ClusterNode): object {
  const { name, uid, resourceVersion, labels, annotations, createdAt, taints, unschedulable } = node;
  return {
    metadata: { name, uid, resourceVersion, labels, annotations, creationTimestamp: time(createdAt) },
    spec: { providerID: node.providerId, taints, unschedulable },
    status: { conditions: [{ type: "Ready", status: node.ready }], nodeInfo: { bootID: node.bootId ?? "" } },
  };
}

export function podDocument(pod: Pod): object {
  const { name, namespace, uid, labels, annotations, controller } = pod;
  const ownerReferences = controller && [{ ...controller, uid: `uid-of-${controller.name}`, controller: true }];
  const deletionTimestamp = pod.deletionTimestamp && time(pod.deletionTimestamp);
  return {
    metadata: { name, namespace, uid, labels, annotations, ownerReferences, deletionTimestamp },
    spec: {
      nodeName: pod.nodeName,
      tolerations: pod.tolerations.map(({ key }) => ({ key, operator: "Exists" })),
      priorityClassName: pod.priorityClassName,
      terminationGracePeriodSeconds: pod.graceSeconds,
    },
    status: { phase: pod.phase, conditions: [{ type: "Ready", status: pod.ready ? "True" : "False" }] },
  };
}

export function budgetDocument({ name, namespace, matchLabels, minAvailable }: Budget): object {
  return { metadata: { name, namespace }, spec: { selector: { matchLabels }, minAvailable } };
}

export function eventDocument({ namespace, name, regarding, type, reason, note }: StoredEvent): object {
  return { metadata: { namespace, name }, involvedObject: regarding, type, reason, message: note };
}

export function leaseDocument({ renewTime, annotations, ...metadata }: LeaseSeed & Stored): object {
  // With a fraction of six digits, as the API server writes a MicroTime.
  const spec = { holderIdentity: metadata.name, renewTime: renewTime?.toISOString().replace("Z", "000Z") };
  return { metadata: { ...metadata, annotations }, spec };
}

export function volumeAttachmentDocument({
  nodeName,
  persistentVolume,
  ...meta
}: VolumeAttachmentSeed & Stored): object {
  const { name, uid, resourceVersion } = meta;
  const spec = { attacher: "ebs.csi.aws.com", nodeName, source: { persistentVolumeName: persistentVolume } };
  return { metadata: { name, uid, resourceVersion }, spec, status: { attached: true } };
}

export function configMapDocument({ data, ...metadata }: ConfigMapData & Stored): object {
  return { metadata, data };
}

/** The API server keeps whole seconds. */
function time(date: Date): string {
  return date.toISOString().replace(/\.\d{3}Z$/, "Z");
}
