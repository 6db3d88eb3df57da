/** Translates Nodes, Pods and label selectors of the Kubernetes API into the domain's own, and changes into patches. */
import type { V1LabelSelector, V1Node, V1ObjectMeta, V1Pod, V1Taint } from "@kubernetes/client-node/dist/gen/index.js";
import type { ClusterNode, NodeChange, Taint, TaintEffect } from "../domain/node.ts";
import type { Pod } from "../domain/pod.ts";
import { type LabelMap, matchesSelector } from "../domain/selector.ts";

/** The API server's default where a pod names no grace of its own. */
const DEFAULT_GRACE_SECONDS = 30;
const EFFECTS: readonly TaintEffect[] = ["NoSchedule", "PreferNoSchedule", "NoExecute"];
const PHASES: readonly Pod["phase"][] = ["Pending", "Running", "Succeeded", "Failed"];

/** @throws if the object lacks what the API server gives every stored object. */
export function toNode(node: V1Node): ClusterNode {
  const conditions = node.status?.conditions ?? [];
  return {
    ...identityOf(node.metadata, "Node"),
    resourceVersion: required(node.metadata?.resourceVersion, "Node", "resourceVersion"),
    providerId: node.spec?.providerID,
    taints: (node.spec?.taints ?? []).map(toTaint),
    unschedulable: node.spec?.unschedulable ?? false,
    ready: toReady(conditions.find((one) => one.type === "Ready")?.status),
    // Empty until the kubelet has reported.
    bootId: node.status?.nodeInfo?.bootID || undefined,
    createdAt: required(node.metadata?.creationTimestamp, "Node", "creationTimestamp"),
  };
}

/** @throws if the object lacks what the API server gives every stored object. */
export function toPod(pod: V1Pod): Pod {
  const owner = pod.metadata?.ownerReferences?.find((one) => one.controller === true);
  return {
    ...identityOf(pod.metadata, "Pod"),
    namespace: required(pod.metadata?.namespace, "Pod", "namespace"),
    nodeName: pod.spec?.nodeName,
    phase: PHASES.find((phase) => phase === pod.status?.phase) ?? "Unknown",
    ready: pod.status?.conditions?.some((one) => one.type === "Ready" && one.status === "True") ?? false,
    controller: owner && { apiVersion: owner.apiVersion, kind: owner.kind, name: owner.name },
    tolerations: (pod.spec?.tolerations ?? []).map(({ key }) => ({ key })),
    priorityClassName: pod.spec?.priorityClassName,
    graceSeconds: pod.spec?.terminationGracePeriodSeconds ?? DEFAULT_GRACE_SECONDS,
    deletionTimestamp: pod.metadata?.deletionTimestamp,
  };
}

/**
 * Body of a JSON merge patch: null removes a key, lists are replaced whole. The UID keeps it from a Node that has
 * been made anew under the same name.
 */
export function toMergePatch(node: ClusterNode, change: NodeChange, unconditional: boolean): object {
  return {
    metadata: {
      uid: node.uid,
      ...(unconditional ? {} : { resourceVersion: node.resourceVersion }),
      ...(change.labels && { labels: withNulls(change.labels) }),
      ...(change.annotations && { annotations: withNulls(change.annotations) }),
    },
    spec: {
      ...(change.unschedulable !== undefined && { unschedulable: change.unschedulable }),
      ...(change.taints && { taints: change.taints }),
    },
  };
}

/** Whether a budget's selector matches: in policy/v1 an empty one matches every pod, an absent one none. */
export function selects(selector: V1LabelSelector | undefined, labels: LabelMap): boolean {
  if (selector === undefined) return false;
  return matchesSelector(labels, {
    matchLabels: selector.matchLabels ?? {},
    matchExpressions: (selector.matchExpressions ?? []).map(({ key, operator, values }) => {
      switch (operator) {
        case "In":
        case "NotIn":
          return { key, operator, values: values ?? [] };
        case "Exists":
        case "DoesNotExist":
          return { key, operator };
        default:
          throw new Error(`reading a label selector: operator ${operator} is unknown`);
      }
    }),
  });
}

function identityOf(metadata: V1ObjectMeta | undefined, kind: string) {
  return {
    name: required(metadata?.name, kind, "name"),
    uid: required(metadata?.uid, kind, "uid"),
    labels: metadata?.labels ?? {},
    annotations: metadata?.annotations ?? {},
  };
}

function toTaint({ key, value, effect, timeAdded }: V1Taint): Taint {
  const known = EFFECTS.find((one) => one === effect);
  return {
    key,
    effect: required(known, "Node", `taint with an effect we know (${effect})`),
    ...(value !== undefined && { value }),
    // The API server's own form has no fraction of a second.
    ...(timeAdded && { timeAdded: timeAdded.toISOString().replace(".000Z", "Z") }),
  };
}

function toReady(status: string | undefined): ClusterNode["ready"] {
  return status === "True" || status === "False" ? status : "Unknown";
}

function withNulls(changes: Readonly<Record<string, string | undefined>>): Record<string, string | null> {
  return Object.fromEntries(Object.entries(changes).map(([key, value]) => [key, value ?? null]));
}

/** @throws for what the API server gives every stored object. */
export function required<T>(value: T | undefined, kind: string, field: string): T {
  if (value === undefined) throw new Error(`reading a ${kind}: no ${field}`);
  return value;
}
