/** The port `Cluster` on the Kubernetes API, through the relay or straight at the cluster. */
import { CoreV1Api, PolicyV1Api } from "@kubernetes/client-node/dist/gen/index.js";
import type { Cluster } from "../ports/cluster.ts";
import {
  type Carrier,
  type ClusterConnection,
  type ClusterSettings,
  configurations,
  connect,
} from "./kube-connection.ts";
import { eventRequests } from "./kube-events.ts";
import { nodeRequests } from "./kube-nodes.ts";
import { podRequests } from "./kube-pods.ts";

/** Made once per process; opens no connection before the first request. */
export function connectCluster(settings: ClusterSettings): ClusterConnection<Cluster> {
  return connect(settings, clusterOver);
}

/** The port over anything that carries requests to a Kubernetes API. */
export function clusterOver(carrier: Carrier): Cluster {
  const { usual, forEvents } = configurations(carrier);
  const core = new CoreV1Api(usual);
  return {
    ...nodeRequests(core),
    ...podRequests(core, new PolicyV1Api(usual)),
    ...eventRequests(new CoreV1Api(forEvents), carrier.posted),
  };
}
