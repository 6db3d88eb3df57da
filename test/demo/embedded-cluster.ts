/** The scene in a cluster in memory, served over TLS: an API server and kubelets without anything to install. */
import { ClusterModel } from "../fakes/kube-api/cluster-model.ts";
import { serveKubeApi } from "../fakes/kube-api/server.ts";
import { createAuthority } from "../rig/pki.ts";
import type { DemoCluster } from "./demo-cluster.ts";
import { BUDGET, DAEMON_SET, POD_STOP_MILLISECONDS, type Scene } from "./scene.ts";

/** The embedded API server believes anyone. */
const TOKEN = "anyone";

export async function startEmbeddedCluster(scene: Scene): Promise<DemoCluster> {
  const authority = await createAuthority();
  const { certPem, keyPem } = await authority.issue({ commonName: "kube-apiserver", hosts: ["127.0.0.1"] });
  const model = new ClusterModel({ podStopMs: POD_STOP_MILLISECONDS });
  fill(model, scene);
  const api = await serveKubeApi(model, { cert: certPem, key: keyPem });
  return {
    url: api.url,
    caPem: authority.certPem,
    relayToken: TOKEN,
    viewerToken: TOKEN,
    commands: [`curl --insecure ${api.url}/api/v1/nodes`, `curl --insecure ${api.url}/api/v1/pods`],
    [Symbol.asyncDispose]: () => api.stop(),
  };
}

function fill(model: ClusterModel, { nodes, pods }: Scene): void {
  for (const { name, instanceId, zone } of nodes) {
    const labels = { "kubernetes.io/hostname": name, "topology.kubernetes.io/zone": zone };
    model.addNode({ name, labels, providerId: `aws:///${zone}/${instanceId}` });
    const controller = { apiVersion: "apps/v1", kind: "DaemonSet", name: DAEMON_SET.name };
    model.addPod({ namespace: DAEMON_SET.namespace, name: `${DAEMON_SET.name}-${name}`, nodeName: name, controller });
  }
  for (const { app, ...pod } of pods) model.addPod({ ...pod, labels: { app }, controller: undefined });
  const { namespace, name, app, minAvailable } = BUDGET;
  model.addBudget({ namespace, name, matchLabels: { app }, minAvailable });
}
