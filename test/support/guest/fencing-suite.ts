/** What suites on fencing have in common: one API server for all their nodes, and the bundle of the agent that ships. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildBundle } from "../../../scripts/build.ts";
import { type FencingCluster, startFencingCluster } from "./fencing-cluster.ts";
import { type FencingNode, type FencingNodeStart, startFencingNode } from "./fencing-node.ts";

export interface FencingSuite extends AsyncDisposable {
  readonly cluster: FencingCluster;
  startNode(start: Omit<FencingNodeStart, "cluster" | "program">): Promise<FencingNode>;
}

const ENTRY = join(import.meta.dirname, "../../../node-agent/fencing/main.ts");

export async function startFencingSuite(): Promise<FencingSuite> {
  await using onFailure = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), "nodekeeper-fencing-"));
  onFailure.defer(() => rm(folder, { recursive: true, force: true }));
  const bundle = { name: "fencing-agent", entry: ENTRY, file: "main", format: "cjs", directory: folder } as const;
  const { entry: program } = await buildBundle(bundle);
  const cluster = onFailure.use(await startFencingCluster());
  const running = onFailure.move();
  return {
    cluster,
    startNode: (start) => startFencingNode({ ...start, cluster, program }),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}
