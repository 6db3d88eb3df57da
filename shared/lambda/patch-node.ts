/** One merge patch of a Node until it holds, while others write the same Node. */
import type { ClusterNode, NodeChange } from "../domain/node.ts";
import type { Clock } from "../ports/clock.ts";
import type { Cluster } from "../ports/cluster.ts";

interface PatchTools {
  readonly cluster: Pick<Cluster, "patchNode" | "findNode">;
  readonly clock: Clock;
  /** Aborted when the invocation's time is nearly over. */
  readonly timeBudget: AbortSignal;
}

/** Tries of one patch while others write the same Node. */
const PATCH_TRIES = 6;
const CONFLICT_PAUSE_MS = 20;

export type Patched =
  | { readonly kind: "patched"; readonly node: ClusterNode }
  /** Nothing to change; after a conflict that may be what a patch of ours, whose answer was lost, has done. */
  | { readonly kind: "unchanged"; readonly node: ClusterNode; readonly afterConflict: boolean }
  | { readonly kind: "gone" }
  | { readonly kind: "failed"; readonly node: ClusterNode; readonly isRefused: boolean; readonly because: string };

/** Patches under the resourceVersion read; after a conflict the change is made anew for the fresh Node, up to five times more. */
export async function patchUntilItHolds(
  first: ClusterNode,
  changeFor: (node: ClusterNode) => NodeChange | undefined,
  { cluster, clock, timeBudget }: PatchTools,
): Promise<Patched> {
  let node = first;
  for (let attempt = 1; ; attempt++) {
    const change = changeFor(node);
    if (!change) return { kind: "unchanged", node, afterConflict: attempt > 1 };
    const answer = await cluster.patchNode(node, change);
    switch (answer.kind) {
      case "patched":
        return { kind: "patched", node: answer.node };
      case "gone":
        return { kind: "gone" };
      case "refused":
        return { kind: "failed", node, isRefused: true, because: answer.because };
      case "conflict":
        if (attempt === PATCH_TRIES)
          return { kind: "failed", node, isRefused: false, because: `${PATCH_TRIES} conflicts in a row` };
    }
    // Half of the pause is chance, so that two writers don't meet again.
    await clock.sleep(CONFLICT_PAUSE_MS * 2 ** attempt * (0.5 + Math.random() / 2), timeBudget);
    const fresh = await cluster.findNode(node.name);
    // A Node of the same name is another node.
    if (fresh?.uid !== first.uid) return { kind: "gone" };
    node = fresh;
  }
}
