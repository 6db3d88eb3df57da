/** Makes sure, in the middle of fencing, that the node is still the one that was found dead. */

import type { ClusterNode } from "../../../shared/domain/node.ts";
import type { NodeFacts } from "../decide/fencing.ts";
import { decideStillDead } from "../decide/still-dead.ts";
import type { FenceTools } from "../tools.ts";
import { readNode } from "./read-node.ts";

/** The Node as it is now; undefined where anything has moved, which is noted. @throws ClusterUnavailable, ClusterRefused */
export async function lookAgain(facts: NodeFacts, tools: FenceTools): Promise<ClusterNode | undefined> {
  const { name: nodeName } = facts.node;
  const fresh = await readNode(nodeName, tools);
  const because = fresh ? decideStillDead(facts, fresh) : "the Node is gone";
  if (because === undefined) return fresh?.node;
  tools.note({ kind: "fencing-stopped", nodeName, because });
  return undefined;
}
