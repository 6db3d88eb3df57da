/**
 * Looks at the cluster as an operator would: Nodes, their pods and Events, read from the Kubernetes API. It knows nothing
 * of what the functions do.
 */
import * as z from "zod";
import { connectCluster } from "../../shared/adapters/kube-cluster.ts";
import type { ClusterNode } from "../../shared/domain/node.ts";
import type { Pod } from "../../shared/domain/pod.ts";
import { ClusterUnavailable } from "../../shared/ports/cluster.ts";
import { connectKubeApi } from "../rig/kube-api.ts";
import type { DemoCluster } from "./demo-cluster.ts";
import { NAMESPACES } from "./scene.ts";

/** What an Event says of a pod and its budget. */
export interface BudgetReport {
  readonly kind: "blocked" | "deleted-past-budget";
  readonly podUid: string;
  readonly budget: string;
}

export interface Sighting {
  readonly nodes: ReadonlyMap<string, ClusterNode>;
  /** By node name, for the nodes asked for. */
  readonly pods: ReadonlyMap<string, readonly Pod[]>;
  readonly reports: readonly BudgetReport[];
}

export interface Watch extends Disposable {
  /** One look at all nodes and at the pods of some. @throws ClusterUnavailable where the API server didn't answer. */
  look(podsOf: readonly string[]): Promise<Sighting>;
}

export function watchCluster(cluster: Pick<DemoCluster, "url" | "caPem" | "viewerToken">, signal: AbortSignal): Watch {
  const { url, caPem, viewerToken } = cluster;
  const connection = connectCluster({ url, ca: caPem, token: async () => viewerToken });
  const requests = connection.during(signal);
  const api = connectKubeApi(url, caPem, viewerToken);
  const listEvents = async () => {
    const { status, body } = await api.call({ method: "GET", path: `/api/v1/namespaces/${NAMESPACES.apps}/events` });
    if (status !== 200) throw new ClusterUnavailable(`listing Events: ${status}`);
    return eventList.parse(body).items.flatMap(reportsOf);
  };
  return {
    async look(podsOf) {
      const [nodes, pods, reports] = await Promise.all([
        requests.listNodes(),
        Promise.all(podsOf.map(async (name) => [name, await requests.listPodsOnNode(name)] as const)),
        listEvents(),
      ]);
      return { nodes: new Map(nodes.map((node) => [node.name, node])), pods: new Map(pods), reports };
    },
    [Symbol.dispose]() {
      connection.close();
      api.close();
    },
  };
}

const eventList = z.object({
  items: z.array(
    z.object({
      reason: z.string().default(""),
      message: z.string().default(""),
      involvedObject: z.object({ uid: z.string().default("") }),
    }),
  ),
});

const KINDS: ReadonlyMap<string, BudgetReport["kind"]> = new Map([
  ["EvictionBlocked", "blocked"],
  ["DeletedPastBudget", "deleted-past-budget"],
]);

function reportsOf(event: z.infer<typeof eventList>["items"][number]): BudgetReport[] {
  const kind = KINDS.get(event.reason);
  const budget = /PodDisruptionBudget ([^\s:]+)/.exec(event.message)?.[1];
  return kind && budget ? [{ kind, podUid: event.involvedObject.uid, budget }] : [];
}
