/** A real API server with the relay's own manifests applied: its service account, its rights, its flow schemas. */
import { join } from "node:path";
import * as z from "zod";
import { DRAINING_LABEL } from "../../shared/domain/keys.ts";
import { type ControlPlane, type ControlPlaneOptions, startControlPlane } from "../rig/control-plane.ts";
import { createNodes, createPods, instanceIdFor, type PodSeed } from "../rig/seed.ts";
import { waitUntil } from "../rig/wait.ts";

const MANIFESTS = join(import.meta.dirname, "../../relay/manifests/base");

export interface RealCluster extends ControlPlane {
  /** Token of the relay's service account. */
  readonly relayToken: string;
}

/** Leases are left out: the suites are shorter than it takes to miss one. */
export async function startRealCluster(options: ControlPlaneOptions = {}): Promise<RealCluster> {
  const plane = await startControlPlane({ kwok: { leases: false }, ...options });
  await plane.kubectl("apply", "-k", MANIFESTS);
  // The relay runs as a process here: its pods must not come to life on the nodes of a test.
  await plane.kubectl("delete", "deployment", "-n", "nodekeeper", "--all");
  const relayToken = (await plane.kubectl("create", "token", "nodekeeper-relay", "-n", "nodekeeper")).trim();
  return { ...plane, relayToken };
}

export const nodeName = (n: number) => `node-${n}`;
export const instanceIdOf = instanceIdFor;

/** Nodes 1..nodes with so many pods each, Ready and Running. */
export async function populate(
  plane: ControlPlane,
  { nodes, pods, pod = {} }: { nodes: number; pods: number; pod?: Partial<PodSeed> },
): Promise<void> {
  const numbers = Array.from({ length: nodes }, (_, index) => index + 1);
  await createNodes(
    plane,
    numbers.map((n) => ({ name: nodeName(n), instanceId: instanceIdOf(n) })),
  );
  const seeds = numbers.flatMap((n) =>
    Array.from({ length: pods }, (_, p) => ({ name: `web-${n}-${p}`, nodeName: nodeName(n), ...pod })),
  );
  await createPods(plane, seeds);
  await waitUntil(
    "all pods run and all nodes are ready",
    async () => {
      const [running, ready] = await Promise.all([listPods(plane), listNodes(plane)]);
      return (
        ready.every((node) =>
          node.status.conditions.some(({ type, status }) => type === "Ready" && status === "True"),
        ) &&
        running.length >= seeds.length &&
        running.every(({ status }) => status.phase === "Running")
      );
    },
    { withinMilliseconds: 60_000 },
  );
}

const nodeSchema = z.object({
  metadata: z.object({
    name: z.string(),
    labels: z.record(z.string(), z.string()).default({}),
    annotations: z.record(z.string(), z.string()).default({}),
  }),
  spec: z.object({
    unschedulable: z.boolean().default(false),
    taints: z.array(z.object({ key: z.string(), value: z.string().optional(), effect: z.string() })).default([]),
  }),
  status: z.object({ conditions: z.array(z.object({ type: z.string(), status: z.string() })).default([]) }),
});
const podSchema = z.object({
  metadata: z.object({
    name: z.string(),
    namespace: z.string(),
    uid: z.string(),
    deletionTimestamp: z.string().optional(),
  }),
  spec: z.object({ nodeName: z.string().optional() }),
  status: z.object({ phase: z.string().optional() }),
});
const eventSchema = z.object({
  involvedObject: z.object({ kind: z.string(), name: z.string() }),
  reason: z.string().default(""),
  message: z.string().default(""),
  reportingComponent: z.string().default(""),
});

type SeenNode = z.infer<typeof nodeSchema>;

export const listNodes = (plane: ControlPlane) => list(plane, "/api/v1/nodes", nodeSchema);
export const listPods = (plane: ControlPlane) => list(plane, "/api/v1/pods", podSchema);

/** Events of ours only. */
export async function listOurEvents(plane: ControlPlane) {
  const all = await list(plane, "/api/v1/events", eventSchema);
  return all.filter(({ reportingComponent }) => reportingComponent === "nodekeeper");
}

export function isDrained({ metadata, spec }: SeenNode): boolean {
  return spec.unschedulable && metadata.labels[DRAINING_LABEL] === "drained";
}

async function list<T extends z.ZodType>(plane: ControlPlane, path: string, item: T): Promise<z.infer<T>[]> {
  const { status, body } = await plane.api.call({ method: "GET", path });
  if (status !== 200) throw new Error(`listing ${path}: ${status}`);
  return z.object({ items: z.array(item) }).parse(body).items;
}
