/** What the port `Cluster` asks about Pods and their budgets, as requests to the Kubernetes API. */
import type { CoreV1Api, PolicyV1Api, V1PodDisruptionBudget } from "@kubernetes/client-node/dist/gen/index.js";
import type { Cluster } from "../ports/cluster.ts";
import { asking } from "./kube-answers.ts";
import { readDeletionFailure, readEvictionFailure } from "./kube-evictions.ts";
import { selects, toPod } from "./kube-objects.ts";
import { listPages } from "./kube-pages.ts";

/** A resourceVersion: "answer from your watch cache". A `limit` has no effect beside it. */
const FROM_CACHE = "0";
/** A grace of 0 would be a force deletion, which breaks the promise of at most one pod of a name. */
const MIN_GRACE_SECONDS = 1;

type PodRequests = Pick<Cluster, "listPodsOnNode" | "listPodsByLabel" | "evictPod" | "deletePod" | "listBudgetNames">;

export function podRequests(core: CoreV1Api, policy: PolicyV1Api): PodRequests {
  return {
    listPodsOnNode: (nodeName) =>
      asking(`listing pods on node ${nodeName}`, async () => {
        const fieldSelector = `spec.nodeName=${nodeName}`;
        return await listPages((page) => core.listPodForAllNamespaces({ fieldSelector, ...page }), toPod);
      }),

    listPodsByLabel: (namespace, { key, value }) =>
      asking(`listing pods labelled ${key} in ${namespace}`, async () => {
        const labelSelector = `${key}=${value}`;
        const { items } = await core.listNamespacedPod({ namespace, labelSelector, resourceVersion: FROM_CACHE });
        return items.map(toPod);
      }),

    async evictPod({ namespace, name, uid }, graceSeconds) {
      const grace = graceSeconds === undefined ? {} : { gracePeriodSeconds: wholeSeconds(graceSeconds) };
      const body = { metadata: { namespace, name }, deleteOptions: { ...grace, preconditions: { uid } } };
      try {
        await core.createNamespacedPodEviction({ namespace, name, body });
        return { kind: "evicted" };
      } catch (error) {
        return readEvictionFailure(error);
      }
    },

    async deletePod({ namespace, name, uid }, graceSeconds) {
      const body = { gracePeriodSeconds: wholeSeconds(graceSeconds), preconditions: { uid } };
      try {
        await core.deleteNamespacedPod({ namespace, name, body });
        return { kind: "deleted" };
      } catch (error) {
        return readDeletionFailure(error);
      }
    },

    listBudgetNames: (namespace, labels) =>
      asking(`listing disruption budgets in ${namespace}`, async () => {
        const nameOf = ({ metadata, spec }: V1PodDisruptionBudget) =>
          selects(spec?.selector, labels) ? (metadata?.name ?? "") : undefined;
        return await listPages((page) => policy.listNamespacedPodDisruptionBudget({ namespace, ...page }), nameOf);
      }),
  };
}

function wholeSeconds(graceSeconds: number): number {
  return Math.max(MIN_GRACE_SECONDS, Math.floor(graceSeconds));
}
