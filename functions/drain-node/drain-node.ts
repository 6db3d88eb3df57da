/**
 * The story of an urgent signal: find the nodes of the batch, cordon them all, then take one step with each: observe,
 * decide, act, answer. Every step may run twice; what must be remembered is on the Node.
 */
import { readDrainRecord } from "../../shared/domain/drain-record.ts";
import { DRAIN_ANNOTATION } from "../../shared/domain/keys.ts";
import type { ClusterNode } from "../../shared/domain/node.ts";
import { done, type Outcome } from "../../shared/domain/outcome.ts";
import { policyFor } from "../../shared/domain/policy.ts";
import type { Signal } from "../../shared/domain/signal.ts";
import { cordonNode } from "./act/cordon-node.ts";
import { decideCordon } from "./decide/cordon.ts";
import { decideTarget, type Identity } from "./decide/target.ts";
import { secondsUntil } from "./decide/times.ts";
import type { Drain } from "./drain.ts";
import { guarded, unavailable } from "./failures.ts";
import { askAboutStrangers } from "./observe/ask-about-strangers.ts";
import { locateNodes } from "./observe/locate-nodes.ts";
import { takeStep } from "./take-step.ts";
import type { DrainTools } from "./tools.ts";
import type { Verdict } from "./verdict.ts";

/** Gives an outcome for each signal, in their order. Never throws for what may happen to a single one. */
export async function drainNodes(signals: readonly Signal[], tools: DrainTools): Promise<readonly Outcome[]> {
  // Two signals for one instance in a batch: the more urgent one speaks for both.
  const urgent = mostUrgent(signals);
  const verdicts = await verdictsFor([...urgent.values()], tools);
  return signals.map((signal) => {
    const verdict = verdicts.get(signal.instanceId) ?? unavailable(signal, "no verdict was reached", tools);
    const secondsSinceEvent = secondsUntil(tools.clock.now(), signal.at);
    tools.note({ kind: "decided", signal, secondsSinceEvent, ...verdict }, signal);
    return verdict.outcome;
  });
}

function mostUrgent(signals: readonly Signal[]): ReadonlyMap<string, Signal> {
  const latestFirst = signals.toSorted((a, b) => b.deadline.getTime() - a.deadline.getTime());
  return new Map(latestFirst.map((signal) => [signal.instanceId, signal]));
}

type Verdicts = ReadonlyMap<string, Verdict>;

async function verdictsFor(signals: readonly Signal[], tools: DrainTools): Promise<Verdicts> {
  const located = await guarded(
    () =>
      locateNodes(
        signals.map((signal) => signal.instanceId),
        tools,
      ),
    tools,
  );
  if (located.kind === "failed")
    return new Map(signals.map((signal) => [signal.instanceId, located.verdictFor(signal)]));

  // All nodes of the batch are cordoned before anything is evicted, so that nobody's pods land on a doomed neighbour.
  const prepared = await Promise.all(
    signals.map((signal) => prepare(signal, located.value.get(signal.instanceId), tools)),
  );
  const strangers = prepared.flatMap((one) => (one.kind === "stranger" ? [one.signal] : []));
  const [aboutStrangers, steps] = await Promise.all([
    guarded(() => askAboutStrangers(strangers, tools), tools),
    Promise.all(prepared.map((one) => stepVerdict(one, tools))),
  ]);
  const strangersVerdicts =
    aboutStrangers.kind === "ok"
      ? aboutStrangers.value
      : new Map(strangers.map((signal) => [signal.instanceId, aboutStrangers.verdictFor(signal)]));
  return new Map([...steps.flat(), ...strangersVerdicts]);
}

type Prepared =
  | { readonly kind: "settled"; readonly signal: Signal; readonly verdict: Verdict }
  | { readonly kind: "stranger"; readonly signal: Signal }
  | { readonly kind: "drain"; readonly drain: Drain };

async function prepare(signal: Signal, identity: Identity | undefined, batch: DrainTools): Promise<Prepared> {
  const tools = toolsFor(signal, batch);
  if (!identity || identity.kind === "none") return { kind: "stranger", signal };
  if (identity.kind === "ambiguous") {
    return { kind: "settled", signal, verdict: { decision: "ambiguous", outcome: done(identity.because) } };
  }
  const { node } = identity;
  const left = decideTarget(signal, node, tools.policy, tools.clock.now());
  if (left) return { kind: "settled", signal, verdict: { ...left, nodeName: node.name } };

  const policy = policyFor(tools.policy, node);
  if (policy.dryRun) return { kind: "drain", drain: { signal, node, policy, cordonedNow: false } };
  const cordoned = await guarded(
    () => cordonNode(node, (fresh) => decideCordon(fresh, signal, policy, tools.clock.now()), tools),
    tools,
  );
  if (cordoned.kind === "failed")
    return { kind: "settled", signal, verdict: { ...cordoned.verdictFor(signal), nodeName: node.name } };
  if (cordoned.value.kind === "gone") {
    return {
      kind: "settled",
      signal,
      verdict: { decision: "node-gone", nodeName: node.name, outcome: done("node is gone") },
    };
  }
  const { changed, node: fresh } = cordoned.value;
  noteUnknownRecord(fresh, tools);
  if (changed) noteCordon(signal, node.unschedulable, fresh.name, tools);
  return { kind: "drain", drain: { signal, node: fresh, policy, cordonedNow: changed } };
}

/** Facts of a signal's drain are noted with the signal. */
function toolsFor(signal: Signal, tools: DrainTools): DrainTools {
  return { ...tools, note: (fact) => tools.note(fact, signal) };
}

function noteCordon(signal: Signal, wasCordoned: boolean, nodeName: string, { clock, note }: DrainTools): void {
  if (wasCordoned) return;
  note({ kind: "cordoned", nodeName, secondsSinceEvent: secondsUntil(clock.now(), signal.at) });
}

/** A record of another version is somebody's who knows more: it is left alone. */
function noteUnknownRecord(node: ClusterNode, { note }: DrainTools): void {
  const reading = readDrainRecord(node.annotations[DRAIN_ANNOTATION]);
  if (reading.kind === "unknown") note({ kind: "record-left-alone", nodeName: node.name, because: reading.because });
}

async function stepVerdict(prepared: Prepared, batch: DrainTools): Promise<readonly (readonly [string, Verdict])[]> {
  switch (prepared.kind) {
    case "settled":
      return [[prepared.signal.instanceId, prepared.verdict]];
    case "stranger":
      return [];
    case "drain": {
      const { drain } = prepared;
      const tools = toolsFor(drain.signal, batch);
      const step = await guarded(() => takeStep(drain, tools), tools);
      const verdict = step.kind === "failed" ? step.verdictFor(drain.signal) : step.value;
      return [[drain.signal.instanceId, { ...verdict, nodeName: drain.node.name }]];
    }
  }
}
