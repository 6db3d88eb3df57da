/** The port `FencingCluster` on the Kubernetes API, through the relay or straight at the cluster. */
import { CoordinationV1Api, CoreV1Api, PolicyV1Api, StorageV1Api } from "@kubernetes/client-node/dist/gen/index.js";
import type { FencingCluster } from "../ports/fencing-cluster.ts";
import { configMapRequests } from "./kube-config-maps.ts";
import {
  type Carrier,
  type ClusterConnection,
  type ClusterSettings,
  configurations,
  connect,
} from "./kube-connection.ts";
import { endRequests } from "./kube-ends.ts";
import { eventRequests } from "./kube-events.ts";
import { leaseRequests } from "./kube-leases.ts";
import { nodeRequests } from "./kube-nodes.ts";
import { podRequests } from "./kube-pods.ts";

/** Made once per process; opens no connection before the first request. */
export function connectFencingCluster(settings: ClusterSettings): ClusterConnection<FencingCluster> {
  return connect(settings, fencingClusterOver);
}

/** The port over anything that carries requests to a Kubernetes API. */
export function fencingClusterOver(carrier: Carrier): FencingCluster {
  const { usual, forEvents } = configurations(carrier);
  const core = new CoreV1Api(usual);
  const { listNodes, findNode, patchNode } = nodeRequests(core);
  const { listPodsOnNode } = podRequests(core, new PolicyV1Api(usual));
  return {
    listNodes,
    findNode,
    patchNode,
    listPodsOnNode,
    ...leaseRequests(new CoordinationV1Api(usual)),
    ...endRequests(core, new StorageV1Api(usual)),
    ...configMapRequests(core),
    ...eventRequests(new CoreV1Api(forEvents), carrier.posted),
  };
}
