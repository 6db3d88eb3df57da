/** Shows on Nodes whose agent has armed the dog, or no longer has: agents have no right to write Nodes themselves. */
import pLimit from "p-limit";
import type { ClusterNode } from "../../../shared/domain/node.ts";
import { isIgnored, policyFor } from "../../../shared/domain/policy.ts";
import { armedChange } from "../decide/marks.ts";
import type { LeasePass } from "../decide/observations.ts";
import { statementOf } from "../observe/read-node.ts";
import type { FenceTools } from "../tools.ts";

/** In one run; a whole cluster that has just armed takes some minutes. */
const MOST_AT_ONCE = 50;
const WIDTH = 4;

export async function showArmed(nodes: readonly ClusterNode[], pass: LeasePass, tools: FenceTools): Promise<void> {
  const { cluster, note, policy } = tools;
  const agents = new Map(pass.agents.map((lease) => [lease.name, lease]));
  const changes = nodes
    .filter((node) => !isIgnored(policy, node) && !policyFor(policy, node).dryRun)
    .flatMap((node) => {
      const change = armedChange(node, statementOf(agents.get(node.name)));
      return change ? [{ node, change }] : [];
    });
  const limit = pLimit(WIDTH);
  const show = async ({ node, change }: (typeof changes)[number]) => {
    const answer = await cluster.patchNode(node, change);
    // Whoever wrote first, or took the Node away: the next run looks again.
    if (answer.kind === "refused") note({ kind: "patch-failed", nodeName: node.name, because: answer.because });
  };
  await Promise.all(changes.slice(0, MOST_AT_ONCE).map((one) => limit(() => show(one))));
}
