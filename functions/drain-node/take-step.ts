/** One step with one cordoned node: look at its pods, decide, act once, say when to look again. */
import { RELAY_NAMESPACE, RELAY_POD_LABEL } from "../../shared/domain/keys.ts";
import { again, done } from "../../shared/domain/outcome.ts";
import type { DeletionAnswer, EvictionAnswer } from "../../shared/ports/cluster.ts";
import { evictPods, tightenPods } from "./act/evict-pods.ts";
import { finishDrained, finishGivenUp, finishUnreachable } from "./act/finish.ts";
import { reportBlocked } from "./act/report-blocked.ts";
import { tellStarted } from "./act/tell.ts";
import { decideLookAgain } from "./decide/look-again.ts";
import { isRelayPod } from "./decide/pods.ts";
import { recordOn } from "./decide/record.ts";
import { decideStep, type Step } from "./decide/step.ts";
import { givesUpAt } from "./decide/times.ts";
import type { Verdict } from "./decide/verdict.ts";
import type { Drain } from "./drain.ts";
import type { DrainTools } from "./tools.ts";

/** Between the two looks that make sure of an empty node. */
const SECOND_LOOK_MS = 2_000;

export async function takeStep(drain: Drain, tools: DrainTools): Promise<Verdict> {
  // Beside the step, for an Event must not hold up a drain.
  const [verdict] = await Promise.all([
    stepOf(drain, tools),
    drain.cordonedNow ? tellStarted(drain, tools) : undefined,
  ]);
  return verdict;
}

async function stepOf(drain: Drain, tools: DrainTools): Promise<Verdict> {
  const step = await look(drain, tools);
  if (drain.policy.dryRun) return dryRun(step);
  const isOver = tools.clock.now() > givesUpAt(drain.signal);
  switch (step.kind) {
    case "evict":
      return isOver ? finishGivenUp(drain, step.because, tools) : evict(step, drain, tools);
    case "wait":
      if (isOver) return finishGivenUp(drain, step.because, tools);
      return { decision: "wait", outcome: again(step.lookAgainSeconds, step.because) };
    case "unreachable":
      return finishUnreachable(drain, step.because, tools);
    case "looks-empty":
      return lookTwice(drain, tools);
  }
}

async function look({ node, signal, policy }: Drain, { cluster, clock }: DrainTools): Promise<Step> {
  const pods = await cluster.listPodsOnNode(node.name);
  const relayElsewhere = pods.some(isRelayPod) && (await isRelayElsewhere(node.name, cluster));
  return decideStep({ now: clock.now(), signal, node, pods, policy, record: recordOn(node), relayElsewhere });
}

async function isRelayElsewhere(nodeName: string, cluster: DrainTools["cluster"]): Promise<boolean> {
  const relays = await cluster.listPodsByLabel(RELAY_NAMESPACE, RELAY_POD_LABEL);
  return relays.some((pod) => pod.ready && pod.nodeName !== nodeName && !pod.deletionTimestamp);
}

async function evict(step: Extract<Step, { kind: "evict" }>, drain: Drain, tools: DrainTools): Promise<Verdict> {
  const [evicted, tightened] = await Promise.all([
    evictPods(step.evictions, tools),
    tightenPods(step.tightenings, tools),
  ]);
  const blocked = await reportBlocked(evicted, drain, tools);
  const answers = [...evicted.map((one) => one.answer), ...tightened];
  const seconds = decideLookAgain({
    usualSeconds: step.lookAgainSeconds,
    throttledSeconds: answers.flatMap((answer) => (answer.kind === "throttled" ? [answer.retryAfterSeconds] : [])),
    unanswered: answers.some((answer) => answer.kind === "unanswered"),
    blocked,
    now: tools.clock.now(),
    signal: drain.signal,
    policy: drain.policy,
  });
  return { decision: "evict", outcome: again(seconds, [step.because, ...troublesOf(answers)].join("; ")) };
}

/** What went otherwise than asked, in a few words: how many, and why the first of them. */
function troublesOf(answers: readonly (EvictionAnswer | DeletionAnswer)[]): readonly string[] {
  const troubles = ["blocked", "throttled", "unanswered", "namespace-terminating", "refused"] as const;
  return troubles.flatMap((kind) => {
    const those = answers.filter((answer) => answer.kind === kind);
    const [first] = those;
    if (!first) return [];
    return [`${those.length} ${kind}${"because" in first ? ` (${first.because})` : ""}`];
  });
}

/** Empty is what a consistent list shows twice; the second look is made here, so that nothing need be remembered. */
async function lookTwice(drain: Drain, tools: DrainTools): Promise<Verdict> {
  await tools.clock.sleep(SECOND_LOOK_MS, tools.timeBudget);
  const second = await look(drain, tools);
  if (second.kind === "looks-empty") return finishDrained(drain, second, tools);
  return { decision: "wait", outcome: again(1, `not empty at the second look: ${second.because}`) };
}

function dryRun(step: Step): Verdict {
  return { decision: "dry-run", outcome: done(`dry run: would cordon the node; then: ${step.kind} (${step.because})`) };
}
