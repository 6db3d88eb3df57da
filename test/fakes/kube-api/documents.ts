/** Writes the model's values as the JSON documents of the Kubernetes API. */
import type { ClusterNode } from "../../../shared/domain/node.ts";
import type { Budget } from "./budgets.ts";
import type { StoredEvent } from "./cluster-model.ts";
import type { StoredPod } from "./pod-life.ts";

export function nodeDocument(node: ClusterNode): object {
  const { name, uid, resourceVersion, labels, annotations } = node;
  return {
    kind: "Node",
    apiVersion: "v1",
    metadata: { name, uid, resourceVersion, labels, annotations, creationTimestamp: time(node.createdAt) },
    spec: {
      providerID: node.providerId,
      ...(node.unschedulable && { unschedulable: true }),
      ...(node.taints.length > 0 && { taints: node.taints }),
    },
    status: {
      conditions: [{ type: "Ready", status: node.ready }],
      nodeInfo: { bootID: node.bootId ?? "" },
    },
  };
}

export function podDocument({ pod, createdAt, deletion }: StoredPod): object {
  const { name, namespace, uid, labels, annotations, controller } = pod;
  return {
    kind: "Pod",
    apiVersion: "v1",
    metadata: {
      name,
      namespace,
      uid,
      labels,
      annotations,
      creationTimestamp: time(createdAt),
      ...(controller && { ownerReferences: [{ ...controller, uid: `uid-of-${controller.name}`, controller: true }] }),
      ...(pod.deletionTimestamp && { deletionTimestamp: time(pod.deletionTimestamp) }),
      ...(deletion && { deletionGracePeriodSeconds: deletion.graceSeconds }),
    },
    spec: {
      nodeName: pod.nodeName,
      tolerations: pod.tolerations.map(({ key }) => ({ key, operator: "Exists" })),
      priorityClassName: pod.priorityClassName,
      terminationGracePeriodSeconds: pod.graceSeconds,
    },
    status: {
      phase: pod.phase,
      conditions: [{ type: "Ready", status: pod.ready ? "True" : "False" }],
    },
  };
}

export function budgetDocument(budget: Budget): object {
  const { name, namespace, matchLabels, minAvailable, maxUnavailable, unhealthyPodEvictionPolicy } = budget;
  return {
    kind: "PodDisruptionBudget",
    apiVersion: "policy/v1",
    metadata: { name, namespace },
    spec: { selector: { matchLabels }, minAvailable, maxUnavailable, unhealthyPodEvictionPolicy },
  };
}

export function eventDocument({ namespace, name, regarding, type, reason, note }: StoredEvent): object {
  return {
    kind: "Event",
    apiVersion: "v1",
    metadata: { namespace, name },
    involvedObject: regarding,
    type,
    reason,
    message: note,
  };
}

/** The API server keeps whole seconds. */
function time(date: Date): string {
  return date.toISOString().replace(/\.\d{3}Z$/, "Z");
}
