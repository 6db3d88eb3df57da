/** What suites on memory have in common: one API server for all their nodes, and the bundle of the agent that ships. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildBundle } from "../../../scripts/build.ts";
import { type MemoryCluster, startMemoryCluster } from "./memory-cluster.ts";
import { type MemoryNode, type MemoryNodeStart, startMemoryNode } from "./memory-node.ts";

export interface MemorySuite extends AsyncDisposable {
  readonly cluster: MemoryCluster;
  startNode<Name extends string>(start: Omit<MemoryNodeStart<Name>, "cluster" | "program">): Promise<MemoryNode<Name>>;
}

const ENTRY = join(import.meta.dirname, "../../../node-agent/early-oom/main.ts");

export async function startMemorySuite(): Promise<MemorySuite> {
  await using onFailure = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), "nodekeeper-early-oom-"));
  onFailure.defer(() => rm(folder, { recursive: true, force: true }));
  const bundle = { name: "early-oom", entry: ENTRY, file: "main", format: "cjs", directory: folder } as const;
  const { entry: program } = await buildBundle(bundle);
  const cluster = onFailure.use(await startMemoryCluster());
  const running = onFailure.move();
  return {
    cluster,
    startNode: (start) => startMemoryNode({ ...start, cluster, program }),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}
