/**
 * The story of an urgent signal: find the nodes of the batch, cordon them all, then take one step with each: observe,
 * decide, act, answer. Every step may run twice; what must be remembered is on the Node.
 */
import type { Outcome } from "../../shared/domain/outcome.ts";
import type { Signal } from "../../shared/domain/signal.ts";
import { isLongPast } from "./decide/target.ts";
import { secondsUntil } from "./decide/times.ts";
import type { Verdict } from "./decide/verdict.ts";
import { guarded, verdictOn } from "./failures.ts";
import { askAboutStrangers } from "./observe/ask-about-strangers.ts";
import { locateNodes } from "./observe/locate-nodes.ts";
import { type Prepared, prepareNode } from "./prepare-node.ts";
import { takeStep } from "./take-step.ts";
import { type DrainTools, toolsFor } from "./tools.ts";

/** Gives an outcome for each signal, in their order. Never throws for what may happen to a single one. */
export async function drainNodes(signals: readonly Signal[], tools: DrainTools): Promise<readonly Outcome[]> {
  const spokesmen = chooseSpokesmen(signals, tools.clock.now());
  const verdicts = await verdictsFor(spokesmen, tools);
  return signals.map((signal) => {
    const verdict = verdicts.get(signal.instanceId) ?? verdictOn(NO_VERDICT, signal, tools);
    const secondsSinceEvent = secondsUntil(tools.clock.now(), signal.at);
    tools.note({ kind: "decided", signal, secondsSinceEvent, ...verdict }, signal);
    return verdict.outcome;
  });
}

const NO_VERDICT = { decision: "failed", seconds: 1, because: "no verdict was reached" } as const;

/** One signal for each instance speaks for all of a batch: the most urgent one, but not one that is long past. */
function chooseSpokesmen(signals: readonly Signal[], now: Date): readonly Signal[] {
  const lastOneCounts = signals.toSorted(
    (a, b) => Number(isLongPast(b, now)) - Number(isLongPast(a, now)) || b.deadline.getTime() - a.deadline.getTime(),
  );
  return [...new Map(lastOneCounts.map((signal) => [signal.instanceId, signal])).values()];
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
    signals.map((signal) => prepareNode(signal, located.value.get(signal.instanceId), tools)),
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
