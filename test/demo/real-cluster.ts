/** The scene in a real control plane, with the relay's own manifests applied and kwok in the part of the kubelets. */
import { programPath } from "../rig/parts.ts";
import { createNamespaces, createNodes, createPods } from "../rig/seed.ts";
import { type RealCluster, startRealCluster } from "../support/real-cluster.ts";
import type { DemoCluster } from "./demo-cluster.ts";
import { BUDGET, DAEMON_SET, NAMESPACES, POD_STOP_MILLISECONDS, type Scene } from "./scene.ts";

export async function startRealDemoCluster(scene: Scene): Promise<DemoCluster> {
  await using onFailure = new AsyncDisposableStack();
  const plane = onFailure.use(await startRealCluster({ kwok: { podStopMilliseconds: POD_STOP_MILLISECONDS } }));
  await fill(plane, scene);
  const running = onFailure.move();
  const kubectl = `${programPath("kubectl")} --kubeconfig ${plane.kubeconfig}`;
  return {
    url: plane.url,
    caPem: plane.caPem,
    relayToken: plane.relayToken,
    viewerToken: plane.adminToken,
    commands: [`${kubectl} get nodes`, `${kubectl} get events --all-namespaces`],
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

async function fill(plane: RealCluster, { nodes, pods }: Scene): Promise<void> {
  await createNamespaces(plane, Object.values(NAMESPACES));
  await plane.apply(daemonSet(), budget());
  await createNodes(plane, nodes);
  const seeds = pods.map(({ app, graceSeconds, priorityClassName, ...pod }) => {
    return { ...pod, labels: { app }, spec: { terminationGracePeriodSeconds: graceSeconds, priorityClassName } };
  });
  await createPods(plane, seeds);
}

function daemonSet(): object {
  const labels = { app: DAEMON_SET.name };
  const containers = [{ name: "main", image: "registry.invalid/log-agent" }];
  return {
    apiVersion: "apps/v1",
    kind: "DaemonSet",
    metadata: DAEMON_SET,
    spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers } } },
  };
}

function budget(): object {
  const { namespace, name, app, minAvailable } = BUDGET;
  return {
    apiVersion: "policy/v1",
    kind: "PodDisruptionBudget",
    metadata: { namespace, name },
    spec: { minAvailable, selector: { matchLabels: { app } } },
  };
}
