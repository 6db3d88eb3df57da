/** Makes one node of a batch ready to be drained: is it ours to touch, and is it cordoned? */
import { readDrainRecord } from "../../shared/domain/drain-record.ts";
import { DRAIN_ANNOTATION } from "../../shared/domain/keys.ts";
import type { ClusterNode } from "../../shared/domain/node.ts";
import { again, done } from "../../shared/domain/outcome.ts";
import { type NodePolicy, policyFor } from "../../shared/domain/policy.ts";
import type { Signal } from "../../shared/domain/signal.ts";
import { type Cordoned, cordonNode } from "./act/cordon-node.ts";
import { decideCordon } from "./decide/cordon.ts";
import { decideTarget, type Identity } from "./decide/target.ts";
import { lastChance, secondsUntil } from "./decide/times.ts";
import type { Verdict } from "./decide/verdict.ts";
import type { Drain } from "./drain.ts";
import { guarded, verdictOn } from "./failures.ts";
import { type DrainTools, toolsFor } from "./tools.ts";

export type Prepared =
  | { readonly kind: "settled"; readonly signal: Signal; readonly verdict: Verdict }
  /** No Node has the instance. */
  | { readonly kind: "stranger"; readonly signal: Signal }
  | { readonly kind: "drain"; readonly drain: Drain };

export async function prepareNode(
  signal: Signal,
  identity: Identity | undefined,
  batch: DrainTools,
): Promise<Prepared> {
  if (!identity || identity.kind === "none") return { kind: "stranger", signal };
  const settled = (verdict: Verdict): Prepared => ({ kind: "settled", signal, verdict });
  if (identity.kind === "ambiguous") return settled({ decision: "ambiguous", outcome: done(identity.because) });

  const tools = toolsFor(signal, batch);
  const { node } = identity;
  const left = decideTarget(signal, { node, policy: tools.policy }, tools.clock.now());
  if (left) return settled({ ...left, nodeName: node.name });
  const policy = policyFor(tools.policy, node);
  if (policy.dryRun) return { kind: "drain", drain: { signal, node, policy, cordonedNow: false } };

  const decide = (fresh: ClusterNode, taintRefused?: string) =>
    decideCordon(fresh, {
      signal,
      policy,
      now: tools.clock.now(),
      ...(taintRefused !== undefined && { taintRefused }),
    });
  const cordoned = await guarded(() => cordonNode({ node, signal, decide }, tools), tools);
  if (cordoned.kind === "failed") return settled({ ...cordoned.verdictFor(signal), nodeName: node.name });
  noteChanges(cordoned.value, { signal, before: node }, tools);
  return drainOf(cordoned.value, { signal, node, policy }, tools);
}

function drainOf(
  cordoned: Cordoned,
  { signal, node, policy }: { signal: Signal; node: ClusterNode; policy: NodePolicy },
  tools: DrainTools,
): Prepared {
  const settled = (verdict: Verdict): Prepared => ({
    kind: "settled",
    signal,
    verdict: { ...verdict, nodeName: node.name },
  });
  switch (cordoned.kind) {
    case "gone":
      // It may have been made anew for the same instance: the next look finds it, or nobody.
      return settled({ decision: "node-gone", outcome: again(1, "node was deleted or made anew in between") });
    case "schedulable": {
      const because = `node can't be cordoned: ${cordoned.because}`;
      const isLast = tools.clock.now() >= lastChance(signal.deadline);
      // Evicted earlier, pods could land right where they were.
      if (!isLast)
        return settled(verdictOn({ decision: "refused", seconds: CORDON_RETRY_SECONDS, because }, signal, tools));
      return { kind: "drain", drain: { signal, node: cordoned.node, policy, cordonedNow: false } };
    }
    case "cordoned":
      return { kind: "drain", drain: { signal, node: cordoned.node, policy, cordonedNow: cordoned.changed } };
  }
}

const CORDON_RETRY_SECONDS = 3;

function noteChanges(
  cordoned: Cordoned,
  { signal, before }: { signal: Signal; before: ClusterNode },
  { clock, note }: DrainTools,
): void {
  if (cordoned.kind !== "cordoned") return;
  const { changed, node } = cordoned;
  if (changed && !before.unschedulable) {
    note({ kind: "cordoned", nodeName: node.name, secondsSinceEvent: secondsUntil(clock.now(), signal.at) });
  }
  // A record of another version is somebody's who knows more: it is left alone.
  const reading = readDrainRecord(node.annotations[DRAIN_ANNOTATION]);
  if (reading.kind === "unknown") note({ kind: "record-left-alone", nodeName: node.name, because: reading.because });
}
