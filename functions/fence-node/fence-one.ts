/** One node in one pass: look at it again, decide, act, and once more where that made the next step possible. */
import type { ClusterNode } from "../../shared/domain/node.ts";
import type { NodePolicy } from "../../shared/domain/policy.ts";
import { carryOut } from "./act/carry-out.ts";
import { decideFencing, type FencingDecision, type NodeFacts } from "./decide/fencing.ts";
import type { NodeSilence } from "./decide/observations.ts";
import type { InstanceAnswer } from "./decide/proof.ts";
import type { DecisionName } from "./facts.ts";
import { readNode } from "./observe/read-node.ts";
import type { FenceTools } from "./tools.ts";

export interface Case {
  /** As listed. */
  readonly node: ClusterNode;
  readonly silence: NodeSilence | undefined;
  readonly observedAt: Date;
  readonly policy: NodePolicy;
  readonly isIgnored: boolean;
  readonly instanceOf: (node: ClusterNode) => InstanceAnswer;
  readonly brake: string | undefined;
}

/** A cordon, and what follows from the proof that was there already. */
const MAX_STEPS = 2;

/** Never throws for what may happen to a single node: the others have a right to theirs. */
export async function takeSteps(given: Case, tools: FenceTools): Promise<void> {
  try {
    for (let step = 1; step <= MAX_STEPS; step++) if (!(await takeStep(given, tools))) return;
  } catch (error) {
    const nodeName = given.node.name;
    if (tools.timeBudget.aborted) tools.note({ kind: "fencing-stopped", nodeName, because: "the run's time is over" });
    else tools.note({ kind: "step-failed", nodeName, error });
  }
}

async function takeStep({ instanceOf, ...given }: Case, tools: FenceTools): Promise<boolean> {
  const fresh = await readNode(given.node.name, tools);
  // It is gone, or another node has its name: the next run observes that one.
  if (fresh?.node.uid !== given.node.uid) return false;
  const facts: NodeFacts = { ...given, ...fresh, instance: instanceOf(fresh.node) };
  const decision = decideFencing(facts);
  const isDryRun = given.policy.dryRun;
  const because = decision.kind === "cordon" ? `${decision.because}; ${decision.next}` : decision.because;
  tools.note({ kind: "decided", nodeName: fresh.node.name, decision: nameOf(decision), because, isDryRun });
  return isDryRun ? false : carryOut(decision, facts, tools);
}

function nameOf(decision: FencingDecision): DecisionName {
  return decision.kind === "hold" ? `hold-${decision.reason}` : decision.kind;
}
