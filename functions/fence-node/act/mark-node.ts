/** Writes on a Node what fencing marks there, until it holds. */
import type { ClusterNode, NodeChange } from "../../../shared/domain/node.ts";
import { patchUntilItHolds } from "../../../shared/lambda/patch-node.ts";
import type { FenceTools } from "../tools.ts";

/**
 * Gives the Node as it is now; undefined where it is gone, or the change could not be written, which is noted.
 * @param changeFor made anew for each fresh Node; undefined where it needs nothing.
 */
export async function markNode(
  node: ClusterNode,
  changeFor: (node: ClusterNode) => NodeChange | undefined,
  tools: FenceTools,
): Promise<ClusterNode | undefined> {
  const patched = await patchUntilItHolds(node, changeFor, tools);
  switch (patched.kind) {
    case "patched":
    case "unchanged":
      return patched.node;
    case "gone":
      return undefined;
    case "failed":
      tools.note({ kind: "patch-failed", nodeName: node.name, because: patched.because });
      return undefined;
  }
}
