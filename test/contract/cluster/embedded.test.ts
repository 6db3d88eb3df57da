/** The contract of the port `Cluster` on the embedded API server, through the real adapter. */
import { describe } from "vitest";
import { connectCluster } from "../../../shared/adapters/kube-cluster.ts";
import { connectFencingCluster } from "../../../shared/adapters/kube-fencing-cluster.ts";
import { ClusterModel } from "../../fakes/kube-api/cluster-model.ts";
import { serveKubeApi } from "../../fakes/kube-api/server.ts";
import { createAuthority } from "../../rig/pki.ts";
import { clusterContract } from "./cluster-contract.ts";
import { modelWorld, NEVER_STOPS_MS } from "./model-world.ts";

describe("the embedded API server", () => {
  clusterContract(async () => {
    const authority = await createAuthority();
    const { certPem: cert, keyPem: key } = await authority.issue({ commonName: "api", hosts: ["127.0.0.1"] });
    const model = new ClusterModel({ podStopMs: NEVER_STOPS_MS });
    const server = await serveKubeApi(model, { cert, key });
    const settings = { url: server.url, ca: authority.certPem, token: async () => "any" };
    const never = new AbortController().signal;
    return modelWorld(model, {
      open: () => connectCluster(settings).during(never),
      openFencing: () => connectFencingCluster(settings).during(never),
      close: () => server.stop(),
    });
  });
});
