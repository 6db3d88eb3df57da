/** Many notices at once through a whole installation, and what came of them: for the end-to-end suite and the bench. */
import type { ControlPlane } from "../rig/control-plane.ts";
import { waitUntil } from "../rig/wait.ts";
import type { Installation } from "./installation.ts";
import { instanceIdOf, listNodes, listPods } from "./real-cluster.ts";
import { type CountedRequest, countedRequests } from "./relay-metrics.ts";

export interface StormResult {
  /** Seconds from the first notice until all nodes were cordoned, until no pod was left, until the queue was empty. */
  readonly seconds: { readonly cordoned: number; readonly empty: number; readonly settled: number };
  readonly requests: readonly CountedRequest[];
}

const WITHIN_MILLISECONDS = 120_000;
const LOOK_MILLISECONDS = 100;

/** Interrupts nodes 1..nodes and waits until every message is settled. */
export async function raiseStorm(installation: Installation, plane: ControlPlane, nodes: number): Promise<StormResult> {
  const started = performance.now();
  const elapsed = () => (performance.now() - started) / 1000;
  const when = async (what: string, isSo: () => Promise<boolean>) => {
    await waitUntil(what, isSo, { withinMilliseconds: WITHIN_MILLISECONDS, everyMilliseconds: LOOK_MILLISECONDS });
    return elapsed();
  };
  await installation.interrupt(Array.from({ length: nodes }, (_, n) => instanceIdOf(n + 1)));
  const cordoned = await when("all nodes are cordoned", async () => {
    const all = await listNodes(plane);
    return all.filter(({ spec }) => spec.unschedulable).length === nodes;
  });
  const empty = await when("all nodes are empty", async () => (await listPods(plane)).length === 0);
  const settled = await when("the queue is empty", async () => (await installation.countMessages()) === 0);
  return { seconds: { cordoned, empty, settled }, requests: await countedRequests(installation.relay.opsUrl) };
}

export function sumRequests(requests: readonly CountedRequest[]): number {
  return requests.reduce((total, { count }) => total + count, 0);
}

export function describeRequests(requests: readonly CountedRequest[]): string {
  return requests.map(({ verb, resource, code, count }) => `${verb} ${resource} ${code}: ${count}`).join(", ");
}
