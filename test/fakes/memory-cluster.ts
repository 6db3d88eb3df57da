/**
 * The ports `Cluster` and `FencingCluster` in memory, for stories: the real adapter's translation over the embedded API, without a socket.
 * So it says what an API server says, down to the words, and time is the model's clock.
 */
import { ResponseContext } from "@kubernetes/client-node/dist/gen/index.js";
import { clusterOver } from "../../shared/adapters/kube-cluster.ts";
import type { Carrier } from "../../shared/adapters/kube-connection.ts";
import { PostedEvents } from "../../shared/adapters/kube-events.ts";
import { fencingClusterOver } from "../../shared/adapters/kube-fencing-cluster.ts";
import type { Cluster } from "../../shared/ports/cluster.ts";
import type { FencingCluster } from "../../shared/ports/fencing-cluster.ts";
import type { ClusterModel } from "./kube-api/cluster-model.ts";
import { type KubeApi, kubeApi } from "./kube-api/kube-api.ts";

export interface MemoryCluster extends Cluster {
  /** How often each verb and resource was asked for: `create pods/eviction`, `list nodes`. */
  readonly counts: KubeApi["counts"];
}

export interface MemoryFencingCluster extends FencingCluster {
  readonly counts: KubeApi["counts"];
}

/** To fail on purpose, override a method: `{ ...memoryCluster(model), evictPod: async () => ({ kind: … }) }`. */
export function memoryCluster(model: ClusterModel): MemoryCluster {
  const api = kubeApi(model);
  return { ...clusterOver(carrierTo(api)), counts: api.counts };
}

/** The same for the port of fencing. */
export function memoryFencingCluster(model: ClusterModel): MemoryFencingCluster {
  const api = kubeApi(model);
  return { ...fencingClusterOver(carrierTo(api)), counts: api.counts };
}

function carrierTo(api: KubeApi): Carrier {
  return {
    url: "https://memory",
    token: async () => "any",
    posted: new PostedEvents(),
    async send(request) {
      const { pathname, search } = new URL(request.getUrl());
      const given = request.getBody();
      const { code, body } = api.answer({
        method: request.getHttpMethod(),
        target: pathname + search,
        body: typeof given === "string" ? given : "",
      });
      const bytes = Buffer.from(JSON.stringify(body));
      const reader = { text: async () => bytes.toString(), binary: async () => bytes, stream: () => null };
      return new ResponseContext(code, { "content-type": "application/json" }, reader);
    },
  };
}
