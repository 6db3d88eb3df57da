/** Whether what was decided of a dead node still holds, asked before each deletion. */
import { MAINTENANCE_ANNOTATIONS } from "../../../shared/domain/keys.ts";
import type { NodeFacts } from "./fencing.ts";

type Seen = Pick<NodeFacts, "node" | "agentLease" | "kubeletLease">;

/** Why nothing more may be done; undefined where all is as it was. */
export function decideStillDead(decided: Seen, fresh: Seen): string | undefined {
  const { node } = fresh;
  if (node.uid !== decided.node.uid) return "the Node was made anew under the same name";
  if (node.bootId !== decided.node.bootId) return "the node has been booted since";
  if (node.ready === "True") return "the node is Ready again";
  if (fresh.agentLease?.resourceVersion !== decided.agentLease?.resourceVersion) return "the agent's Lease moved";
  if (fresh.kubeletLease?.resourceVersion !== decided.kubeletLease?.resourceVersion) return "the kubelet's Lease moved";
  const maintenance = MAINTENANCE_ANNOTATIONS.find((key) => node.annotations[key] !== undefined);
  return maintenance && `somebody works on it now (${maintenance})`;
}
