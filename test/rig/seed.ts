/** Fills a control plane with nodes and pods, many requests at a time: 50 nodes and 500 pods stand in seconds. */
import pLimit from "p-limit";
import type { ControlPlane } from "./control-plane.ts";
import type { KubeResponse } from "./kube-api.ts";
import { KUBELET_LABEL, STOPS_AFTER_ANNOTATION } from "./kwok.ts";
import { waitUntil } from "./wait.ts";

export interface NodeSeed {
  readonly name: string;
  /** Becomes the end of `spec.providerID`. */
  readonly instanceId: string;
  /** Default `eu-west-1a`. */
  readonly zone?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly taints?: readonly object[];
  /** What its kernel calls this life of its own; default: unknown. */
  readonly bootId?: string;
  /** Default true; false leaves the node as it is written, as after the death of its kubelet. */
  readonly kubelet?: boolean;
}

export interface PodSeed {
  readonly name: string;
  /** Default `default`; it must exist (`createNamespaces`). */
  readonly namespace?: string;
  /** Undefined: the scheduler chooses. */
  readonly nodeName?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly ownerReferences?: readonly object[];
  /** How long it takes to stop, in whole seconds, if not what the kubelets do by default. */
  readonly stopsAfterSeconds?: number;
  /** More of the Pod's spec: grace period, tolerations, priority class. */
  readonly spec?: object;
}

const AT_ONCE = 32;

/** An instance id that nobody else has: `i-` and the number in 17 hexadecimal digits. */
export function instanceIdFor(number: number): string {
  return `i-${number.toString(16).padStart(17, "0")}`;
}

export async function createNodes(plane: Pick<ControlPlane, "api">, nodes: readonly NodeSeed[]): Promise<void> {
  await createAll(
    plane,
    nodes.map((node) => ({ path: "/api/v1/nodes", body: nodeObject(node) })),
  );
}

export async function createPods(plane: Pick<ControlPlane, "api">, pods: readonly PodSeed[]): Promise<void> {
  await createAll(
    plane,
    pods.map((pod) => ({ path: `/api/v1/namespaces/${pod.namespace ?? "default"}/pods`, body: podObject(pod) })),
  );
}

/** Namespaces with the service account that pods need. */
export async function createNamespaces(plane: Pick<ControlPlane, "api">, names: readonly string[]): Promise<void> {
  await createAll(
    plane,
    names.map((name) => ({ path: "/api/v1/namespaces", body: { metadata: { name } } })),
  );
  for (const name of names) {
    const path = `/api/v1/namespaces/${name}/serviceaccounts/default`;
    await waitUntil(`namespace ${name} has its service account`, async () => {
      return (await plane.api.call({ method: "GET", path })).status === 200;
    });
  }
}

/** From now on nothing on the node changes: no status, no Lease, and deleted pods stay. */
export async function killKubelet(plane: Pick<ControlPlane, "api">, nodeName: string): Promise<void> {
  const body = { metadata: { labels: { [KUBELET_LABEL]: "dead" } } };
  const answer = await plane.api.call({ method: "PATCH", path: `/api/v1/nodes/${nodeName}`, body });
  if (answer.status !== 200) throw new Error(`killing the kubelet of ${nodeName}: ${describe(answer)}`);
}

/** The node's kubelet is there again, and at once renews its Lease. */
export async function reviveKubelet(plane: Pick<ControlPlane, "api">, nodeName: string): Promise<void> {
  const body = { metadata: { labels: { [KUBELET_LABEL]: null } } };
  const answer = await plane.api.call({ method: "PATCH", path: `/api/v1/nodes/${nodeName}`, body });
  if (answer.status !== 200) throw new Error(`reviving the kubelet of ${nodeName}: ${describe(answer)}`);
}

/** Creates one object. @throws unless the API server says 201. */
export async function create(plane: Pick<ControlPlane, "api">, path: string, body: object): Promise<void> {
  const answer = await plane.api.call({ method: "POST", path, body });
  if (answer.status !== 201) throw new Error(`creating at ${path}: ${describe(answer)}`);
}

async function createAll(
  plane: Pick<ControlPlane, "api">,
  objects: readonly { path: string; body: object }[],
): Promise<void> {
  const limit = pLimit(AT_ONCE);
  await Promise.all(objects.map(({ path, body }) => limit(() => create(plane, path, body))));
}

function describe({ status, body }: KubeResponse): string {
  return `${status} ${JSON.stringify(body)}`;
}

function nodeObject(seed: NodeSeed) {
  const { name, instanceId, zone = "eu-west-1a", labels, annotations, taints, bootId, kubelet = true } = seed;
  const own = {
    "kubernetes.io/hostname": name,
    "topology.kubernetes.io/zone": zone,
    ...(kubelet ? {} : { [KUBELET_LABEL]: "dead" }),
  };
  return {
    metadata: { name, labels: { ...own, ...labels }, annotations },
    spec: { providerID: `aws:///${zone}/${instanceId}`, taints },
    ...(bootId !== undefined && { status: { nodeInfo: { bootID: bootId } } }),
  };
}

function podObject({ name, nodeName, labels, annotations, ownerReferences, stopsAfterSeconds, spec }: PodSeed) {
  const stops = stopsAfterSeconds === undefined ? {} : { [STOPS_AFTER_ANNOTATION]: `${stopsAfterSeconds}s` };
  return {
    metadata: { name, labels, annotations: { ...annotations, ...stops }, ownerReferences },
    spec: { nodeName, containers: [{ name: "main", image: "registry.invalid/main" }], ...spec },
  };
}
