/** Writes the cordon, with all that belongs to it, on a Node. */
import type { ClusterNode, NodeChange } from "../../../shared/domain/node.ts";
import { type Signal, signalName } from "../../../shared/domain/signal.ts";
import { type Patched, patchUntilItHolds } from "../../../shared/lambda/patch-node.ts";
import type { CordonDecision } from "../decide/cordon.ts";
import { recordOn } from "../decide/record.ts";
import type { DrainTools } from "../tools.ts";

export interface Cordoning {
  readonly node: ClusterNode;
  readonly signal: Signal;
  /** What the fresh Node lacks; with a reason, without the taint. */
  readonly decide: (node: ClusterNode, taintRefused?: string) => CordonDecision;
}

export type Cordoned =
  | { readonly kind: "cordoned"; readonly node: ClusterNode; readonly changed: boolean }
  /** Not even the cordon alone could be written: the node still takes pods. */
  | { readonly kind: "schedulable"; readonly node: ClusterNode; readonly because: string }
  | { readonly kind: "gone" };

/**
 * Decides again on the fresh Node after each conflict. What admission refuses is tried without the taint, then as the
 * cordon alone, and reported: a drain must not fail for a taint.
 */
export async function cordonNode(cordoning: Cordoning, tools: DrainTools): Promise<Cordoned> {
  const { node, decide } = cordoning;
  const whole = await patchUntilItHolds(node, (fresh) => changeOf(decide(fresh)), tools);
  if (whole.kind !== "failed") return cordonedBy(whole, cordoning);

  const { because } = whole;
  tools.note({ kind: "cordon-incomplete", nodeName: node.name, because });
  if (!whole.isRefused) return cordonAlone(whole.node, because, tools);
  const untainted = await patchUntilItHolds(whole.node, (fresh) => changeOf(decide(fresh, because)), tools);
  if (untainted.kind !== "failed") return cordonedBy(untainted, cordoning);
  return cordonAlone(untainted.node, untainted.because, tools);
}

function changeOf(decision: CordonDecision): NodeChange | undefined {
  switch (decision.kind) {
    case "cordon":
      return decision.change;
    case "nothing":
      return undefined;
  }
}

function cordonedBy(patched: Exclude<Patched, { kind: "failed" }>, { signal }: Cordoning): Cordoned {
  switch (patched.kind) {
    case "gone":
      return { kind: "gone" };
    case "patched":
      return { kind: "cordoned", node: patched.node, changed: true };
    case "unchanged": {
      // The conflict was with our own patch, whose answer was lost.
      const wasOurs = patched.afterConflict && recordOn(patched.node)?.signal === signalName(signal);
      return { kind: "cordoned", node: patched.node, changed: wasOurs };
    }
  }
}

async function cordonAlone(node: ClusterNode, because: string, tools: DrainTools): Promise<Cordoned> {
  if (node.unschedulable) return { kind: "cordoned", node, changed: false };
  const answer = await tools.cluster.patchNode(node, { unschedulable: true }, { unconditional: true });
  switch (answer.kind) {
    case "patched":
      return { kind: "cordoned", node: answer.node, changed: true };
    case "gone":
      return { kind: "gone" };
    case "conflict": {
      const fresh = await tools.cluster.findNode(node.name);
      return fresh?.uid === node.uid ? { kind: "schedulable", node: fresh, because } : { kind: "gone" };
    }
    case "refused":
      return { kind: "schedulable", node, because: answer.because };
  }
}
