/** What the agents are measured on: their bundles, a real API server with their rights, and a node of it with its pods. */
import { copyFile, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as z from "zod";
import { type Bundle, buildBundles } from "../../scripts/build.ts";
import { type ControlPlane, startControlPlane } from "../rig/control-plane.ts";
import { type RunningProgram, startProgram } from "../rig/processes.ts";
import { agentTokenOn, withOverlay } from "../support/node-agent-manifests.ts";
import type { NodePod } from "./agents-node.ts";

export interface Bed extends AsyncDisposable {
  readonly folder: string;
  readonly cluster: ControlPlane;
  /** The agents' own, and those of the node, one container each. */
  readonly ownPod: NodePod;
  readonly pods: readonly NodePod[];
  /** What both agents get from their pod. */
  readonly env: Readonly<Record<string, string>>;
  run(what: BedProgram): Promise<RunningProgram>;
  /** File of the bundle that is shipped. */
  bundleOf(agent: "early-oom" | "fencing-agent"): string;
}

interface BedProgram {
  readonly name: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Which copy of Node runs it: those with the same one share its pages, as the two agents of a node do. */
  readonly node: NodeCopy;
}

const NODE_COPIES = ["node-of-the-agents", "node-of-the-others"] as const;
type NodeCopy = (typeof NODE_COPIES)[number];

export const NODE_NAME = "bench-node";
const PODS = 30;
const REQUEST = "64Mi";
const USES_MIB = 60;

const podListSchema = z.object({
  items: z.array(z.object({ metadata: z.object({ name: z.string(), namespace: z.string(), uid: z.string() }) })),
});

export async function startBed(): Promise<Bed> {
  await using onFailure = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), "nodekeeper-agents-"));
  onFailure.defer(() => rm(folder, { recursive: true, force: true }));
  const bundles = await buildBundles({ into: join(folder, "dist") });
  // A page is shared by all who map the same file, and other Nodes may run on this machine.
  for (const name of NODE_COPIES) await copyFile(process.execPath, join(folder, name));

  const cluster = onFailure.use(await startControlPlane({ controllers: [], kwok: false }));
  await withOverlay(["lease-namespace"], (overlay) => cluster.kubectl("apply", "--server-side", "-k", overlay));
  const credentials = join(folder, "api");
  await mkdir(credentials);
  await writeFile(join(credentials, "token"), await agentTokenOn(cluster, NODE_NAME));
  await writeFile(join(credentials, "ca.crt"), cluster.caPem);
  const { ownPod, pods } = await populate(cluster);

  const running = onFailure.move();
  return {
    ...{ folder, cluster, ownPod, pods },
    env: { NODE_NAME, POD_UID: ownPod.uid, API_SERVER: cluster.url, API_CREDENTIALS: credentials },
    bundleOf: (agent) => entryOf(agent, bundles),
    run: ({ name, args, env = {}, node }) =>
      startProgram({ name, command: join(folder, node), args, env, logFile: join(folder, `${name}.log`) }),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

async function populate(cluster: ControlPlane) {
  const resources = { requests: { memory: REQUEST } };
  const spec = { nodeName: NODE_NAME, automountServiceAccountToken: false };
  const names = Array.from({ length: PODS }, (_, n) => `bench-${n + 1}`);
  await cluster.apply(
    ...names.map((name) => ({
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name, namespace: "default" },
      spec: { ...spec, containers: [{ name: "main", image: "none", resources }] },
    })),
  );
  const { items } = podListSchema.parse((await cluster.api.call({ method: "GET", path: "/api/v1/pods" })).body);
  const pods = await Promise.all(
    items.map(async ({ metadata: { name, namespace, uid } }) => {
      const containerId = uid.replaceAll("-", "").repeat(2);
      const status = { name: "main", ready: true, restartCount: 0, image: "none", imageID: "none", started: true };
      const containerStatuses = [{ ...status, containerID: `containerd://${containerId}`, state: { running: {} } }];
      const path = `/api/v1/namespaces/${namespace}/pods/${name}/status`;
      const body = { status: { phase: "Running", containerStatuses } };
      const answer = await cluster.api.call({ method: "PATCH", path, body });
      if (answer.status !== 200) throw new Error(`telling the container of ${name}: ${JSON.stringify(answer.body)}`);
      return { name, pod: { uid, containerId, usesMib: USES_MIB } };
    }),
  );
  const ownPod = pods.find(({ name }) => name === NODE_NAME)?.pod;
  if (ownPod === undefined) throw new Error("looking for the agents' own pod: there is none");
  return { ownPod, pods: pods.filter(({ name }) => name !== NODE_NAME).map(({ pod }) => pod) };
}

function entryOf(agent: string, bundles: readonly Bundle[]): string {
  const bundle = bundles.find(({ name }) => name === agent);
  if (bundle === undefined) throw new Error(`measuring the agents: there is no bundle of ${agent}`);
  return bundle.entry;
}
