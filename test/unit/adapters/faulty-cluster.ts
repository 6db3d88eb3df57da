/** An embedded API server behind a proxy with faults, and a connection of the real adapter through it. */
import { connectCluster } from "../../../shared/adapters/kube-cluster.ts";
import type { ClusterConnection } from "../../../shared/adapters/kube-connection.ts";
import type { TransportLimits } from "../../../shared/adapters/kube-transport.ts";
import type { Cluster } from "../../../shared/ports/cluster.ts";
import { ClusterModel } from "../../fakes/kube-api/cluster-model.ts";
import { type EmbeddedApi, serveKubeApi } from "../../fakes/kube-api/server.ts";
import { createAuthority } from "../../rig/pki.ts";
import { type FaultProxy, startFaultProxy } from "../../support/faults/fault-proxy.ts";

export const TOKEN = "k8s-aws-v1.secret";

export interface FaultyCluster extends AsyncDisposable {
  readonly model: ClusterModel;
  readonly api: EmbeddedApi;
  readonly proxy: FaultProxy;
  readonly connection: ClusterConnection<Cluster>;
}

export async function openFaultyCluster(limits?: TransportLimits): Promise<FaultyCluster> {
  await using onFailure = new AsyncDisposableStack();
  const authority = await createAuthority();
  const { certPem: cert, keyPem: key } = await authority.issue({ commonName: "api", hosts: ["127.0.0.1"] });
  const model = new ClusterModel({ podStopMs: 3_600_000 });
  const api = onFailure.use(await serveKubeApi(model, { cert, key }));
  const upstream = { url: api.url, ca: authority.certPem };
  const proxy = onFailure.use(await startFaultProxy({ upstream, tls: { cert, key } }));
  const settings = { url: proxy.url, ca: authority.certPem, token: async () => TOKEN, ...(limits && { limits }) };
  const connection = connectCluster(settings);
  onFailure.defer(async () => connection.close());
  const opened = onFailure.move();
  return { model, api, proxy, connection, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}
