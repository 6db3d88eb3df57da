/** What the API says of this node's pods, parsed by hand: whom nobody may strike, and what each container requested. */
import type { ContainerFacts, PodFacts } from "../words.ts";
import { findBytes } from "./memory-quantity.ts";

/** The kubelet writes it on the mirror of a static pod: the UID that it uses itself, in cgroups too. */
const CONFIG_HASH_ANNOTATION = "kubernetes.io/config.hash";
/** Ours and the kubelet's word for the same: https://kubernetes.io/docs/reference/labels-annotations-taints/ */
const MIRROR_ANNOTATION = "kubernetes.io/config.mirror";

export interface PodPage {
  readonly pods: readonly PodFacts[];
  /** For the next page; undefined on the last. */
  readonly continueWith: string | undefined;
}

/** @throws where the text is no list of pods. A single pod that can't be read is left out: it stays unknown. */
export function readPodPage(body: string): PodPage {
  const list: unknown = JSON.parse(body);
  const items = at(list, "items");
  if (!Array.isArray(items)) throw new Error("reading the list of pods: it has no items");
  const continueWith = text(at(list, "metadata", "continue"));
  return { pods: items.flatMap((item: unknown) => readPod(item) ?? []), continueWith: continueWith || undefined };
}

function readPod(pod: unknown): PodFacts | undefined {
  const apiUid = text(at(pod, "metadata", "uid"));
  const namespace = text(at(pod, "metadata", "namespace"));
  const name = text(at(pod, "metadata", "name"));
  if (apiUid === undefined || namespace === undefined || name === undefined) return undefined;
  const annotations = at(pod, "metadata", "annotations");
  // Anybody may write the hash alone, and would be spared by it; what is marked as a mirror the kubelet doesn't run.
  const mirror = text(at(annotations, MIRROR_ANNOTATION));
  const mirrored = mirror === undefined ? undefined : (text(at(annotations, CONFIG_HASH_ANNOTATION)) ?? mirror);
  const requests = readRequests(pod);
  return {
    uid: mirrored ?? apiUid,
    namespace,
    name,
    isStatic: mirrored !== undefined,
    priority: number(at(pod, "spec", "priority")) ?? 0,
    priorityClassName: text(at(pod, "spec", "priorityClassName")),
    containers: new Map(readContainers(pod, requests)),
    largestRequestBytes: Math.max(0, ...requests.values()),
  };
}

/** Bytes by name of container. A request of the whole pod stands for containers that have none of their own. */
function readRequests(pod: unknown): ReadonlyMap<string, number> {
  const shared = memoryRequest(at(pod, "spec")) ?? 0;
  const specs = ["initContainers", "containers", "ephemeralContainers"].flatMap((key) => list(at(pod, "spec", key)));
  return new Map(specs.map((spec) => [text(at(spec, "name")) ?? "", memoryRequest(spec) ?? shared]));
}

function memoryRequest(spec: unknown): number | undefined {
  const quantity = at(spec, "resources", "requests", "memory");
  return findBytes(typeof quantity === "number" ? String(quantity) : (text(quantity) ?? "no request"));
}

function readContainers(pod: unknown, requests: ReadonlyMap<string, number>): readonly [string, ContainerFacts][] {
  const keys = ["initContainerStatuses", "containerStatuses", "ephemeralContainerStatuses"];
  const statuses = keys.flatMap((key) => list(at(pod, "status", key)));
  return statuses.flatMap((status): readonly [string, ContainerFacts][] => {
    const id = text(at(status, "containerID"))?.replace(/^[a-z-]+:\/\//, "");
    const name = text(at(status, "name"));
    if (id === undefined || id === "" || name === undefined) return [];
    return [[id, { name, memoryRequestBytes: requests.get(name) ?? 0 }]];
  });
}

/** The value at a path of keys; undefined where one of them leads nowhere. */
function at(value: unknown, ...keys: readonly string[]): unknown {
  return keys.reduce(
    (inner: unknown, key) => (isFields(inner) && Object.hasOwn(inner, key) ? inner[key] : undefined),
    value,
  );
}

function isFields(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function text(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function number(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}
