/** The contract of the port `Cluster` on the in-memory cluster. */
import { describe } from "vitest";
import { ClusterModel } from "../../fakes/kube-api/cluster-model.ts";
import { memoryCluster, memoryFencingCluster } from "../../fakes/memory-cluster.ts";
import { clusterContract } from "./cluster-contract.ts";
import { modelWorld, NEVER_STOPS_MS } from "./model-world.ts";

describe("the in-memory cluster", () => {
  clusterContract(async () => {
    const model = new ClusterModel({ podStopMs: NEVER_STOPS_MS });
    return modelWorld(model, {
      open: () => memoryCluster(model),
      openFencing: () => memoryFencingCluster(model),
      close: async () => {},
    });
  });
});
