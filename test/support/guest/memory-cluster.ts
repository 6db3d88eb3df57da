/** A real API server with the node agents' own rights, and the pods of nodes whose memory is to end. */
import * as z from "zod";
import { startControlPlane } from "../../rig/control-plane.ts";
import { AGENT_ACCOUNT, AGENT_NAMESPACE, withOverlay } from "../node-agent-manifests.ts";

/** As the API has it: what the cgroups of the guest are named by. */
export interface MemoryPod {
  readonly name: string;
  readonly uid: string;
  /** Of its one container. */
  readonly containerId: string;
  readonly isGuaranteed: boolean;
  readonly cpuRequestMilli: number;
}

export interface PodWish {
  readonly name: string;
  readonly requestMib: number;
  /** Default: 10. */
  readonly cpuRequestMilli?: number;
  /** Limits are the requests. Default: false. */
  readonly isGuaranteed?: boolean;
}

export interface MemoryCluster extends AsyncDisposable {
  readonly port: number;
  readonly caPem: string;
  /** Makes the Node and its pod of the agent. */
  addNode(name: string): Promise<{ readonly token: string; readonly ownPod: MemoryPod }>;
  /** Names are the node's own: two nodes may have the same. */
  addPod(node: string, wish: PodWish): Promise<MemoryPod>;
  /** Texts of the Events with this reason on a pod. */
  events(pod: MemoryPod, reason: string): Promise<readonly string[]>;
}

const podSchema = z.object({ metadata: z.object({ uid: z.string() }) });
const tokenSchema = z.object({ status: z.object({ token: z.string() }) });
const eventsSchema = z.object({
  items: z.array(
    z.object({ reason: z.string(), message: z.string(), involvedObject: z.object({ uid: z.string().optional() }) }),
  ),
});

export async function startMemoryCluster(): Promise<MemoryCluster> {
  await using onFailure = new AsyncDisposableStack();
  const cluster = onFailure.use(await startControlPlane({ controllers: [], kwok: false }));
  await withOverlay(["lease-namespace"], (folder) => cluster.kubectl("apply", "--server-side", "-k", folder));
  const running = onFailure.move();
  const { api } = cluster;

  async function makePod(node: string, namespace: string, wish: PodWish) {
    const { name, requestMib, cpuRequestMilli = 10, isGuaranteed = false } = wish;
    const memory = { cpu: `${cpuRequestMilli}m`, memory: `${requestMib}Mi` };
    const resources = { requests: memory, ...(isGuaranteed ? { limits: memory } : {}) };
    const path = `/api/v1/namespaces/${namespace}/pods/${node}-${name}`;
    await cluster.apply({
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: `${node}-${name}`, namespace },
      spec: {
        nodeName: node,
        ...(namespace === AGENT_NAMESPACE ? { serviceAccountName: AGENT_ACCOUNT } : {}),
        automountServiceAccountToken: false,
        containers: [{ name: "main", image: "none", resources }],
      },
    });
    const { uid } = podSchema.parse((await api.call({ method: "GET", path })).body).metadata;
    const containerId = uid.replaceAll("-", "").repeat(2);
    const status = { name: "main", ready: true, restartCount: 0, image: "none", imageID: "none", started: true };
    const containerStatuses = [{ ...status, containerID: `containerd://${containerId}`, state: { running: {} } }];
    const body = { status: { phase: "Running", containerStatuses } };
    const patched = await api.call({ method: "PATCH", path: `${path}/status`, body });
    if (patched.status !== 200) throw new Error(`telling the container of ${path}: ${JSON.stringify(patched.body)}`);
    return { name: `${node}-${name}`, uid, containerId, isGuaranteed, cpuRequestMilli };
  }

  return {
    port: Number(new URL(cluster.url).port),
    caPem: cluster.caPem,
    async addNode(name) {
      await cluster.apply({ apiVersion: "v1", kind: "Node", metadata: { name } });
      // What the DaemonSet asks for.
      const wish = { name: "agent", requestMib: 224, cpuRequestMilli: 100 };
      const ownPod = await makePod(name, AGENT_NAMESPACE, wish);
      const spec = { boundObjectRef: { apiVersion: "v1", kind: "Pod", name: ownPod.name, uid: ownPod.uid } };
      const body = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec };
      const path = `/api/v1/namespaces/${AGENT_NAMESPACE}/serviceaccounts/${AGENT_ACCOUNT}/token`;
      return { token: tokenSchema.parse((await api.call({ method: "POST", path, body })).body).status.token, ownPod };
    },
    addPod: (node, wish) => makePod(node, "default", wish),
    async events({ uid }, reason) {
      const { items } = eventsSchema.parse((await api.call({ method: "GET", path: "/api/v1/events" })).body);
      return items
        .filter((item) => item.reason === reason && item.involvedObject.uid === uid)
        .map((item) => item.message);
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}
