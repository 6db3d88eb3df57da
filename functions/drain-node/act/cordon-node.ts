/** Writes the cordon, with all that belongs to it, on a Node. */
import type { ClusterNode, NodeChange } from "../../../shared/domain/node.ts";
import type { CordonDecision } from "../decide/cordon.ts";
import type { DrainTools } from "../tools.ts";
import { patchUntilItHolds } from "./patch-node.ts";

export type Cordoned =
  | { readonly kind: "cordoned"; readonly node: ClusterNode; readonly changed: boolean }
  | { readonly kind: "gone" };

/**
 * Carries out `decide` on the node, deciding again on the fresh Node after each conflict. Where the patch can't be made
 * to hold, the cordon alone is written and the rest reported: a drain must not fail for a taint.
 */
export async function cordonNode(
  node: ClusterNode,
  decide: (node: ClusterNode) => CordonDecision,
  tools: DrainTools,
): Promise<Cordoned> {
  const answer = await patchUntilItHolds(node, (fresh) => changeOf(decide(fresh)), tools);
  switch (answer.kind) {
    case "unchanged":
      return { kind: "cordoned", node: answer.node, changed: false };
    case "patched":
      return { kind: "cordoned", node: answer.node, changed: true };
    case "gone":
      return { kind: "gone" };
    case "failed":
      return cordonAlone(answer.node, answer.because, tools);
  }
}

function changeOf(decision: CordonDecision): NodeChange | undefined {
  switch (decision.kind) {
    case "cordon":
      return decision.change;
    case "nothing":
      return undefined;
  }
}

async function cordonAlone(node: ClusterNode, because: string, tools: DrainTools): Promise<Cordoned> {
  tools.note({ kind: "cordon-incomplete", nodeName: node.name, because });
  if (node.unschedulable) return { kind: "cordoned", node, changed: false };
  const answer = await tools.cluster.patchNode(node, { unschedulable: true }, { unconditional: true });
  switch (answer.kind) {
    case "patched":
      return { kind: "cordoned", node: answer.node, changed: true };
    case "gone":
      return { kind: "gone" };
    case "conflict":
      return { kind: "gone" };
    case "refused":
      tools.note({ kind: "cordon-incomplete", nodeName: node.name, because: `cordon alone: ${answer.because}` });
      return { kind: "cordoned", node, changed: false };
  }
}
