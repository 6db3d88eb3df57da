/** With what grace a pod is evicted, from when on past its budget, and which ending pods are shortened. */
import type { DrainRecord } from "../../../shared/domain/drain-record.ts";
import type { Pod } from "../../../shared/domain/pod.ts";
import { isUnreachable, LOOK_SECONDS, type Observation } from "./observation.ts";
import type { Tier } from "./pods.ts";
import { escalationTime, graceLeftSeconds, lastCall, ownGraceSeconds, plusSeconds, secondsUntil } from "./times.ts";

export interface TieredPod {
  readonly pod: Pod;
  readonly tier: Tier;
}

export interface EndingPod extends TieredPod {
  readonly endsAt: Date;
}

export interface Eviction {
  readonly pod: Pod;
  readonly tier: Tier;
  /** Sent with the eviction; undefined leaves the pod its own. */
  readonly graceSeconds: number | undefined;
  /** Set where the budget's patience is over: the grace of the deletion, should the budget refuse once more. */
  readonly pastBudgetGraceSeconds: number | undefined;
}

/** A pod that is terminating but would end after the deadline. */
export interface Tightening {
  readonly pod: Pod;
  readonly graceSeconds: number;
}

export function eviction({ pod, tier }: TieredPod, seen: Observation): Eviction {
  const grace = graceSeconds(pod, seen);
  const escalated = seen.now >= escalatesAt({ pod, tier }, seen);
  return {
    pod,
    tier,
    // An eviction could lengthen a pod's grace: none is sent unless it shortens (or lifts 0 to 1).
    graceSeconds: grace === pod.graceSeconds ? undefined : grace,
    pastBudgetGraceSeconds: escalated ? grace : undefined,
  };
}

/** The pod's own grace within what is left; an unreachable node's kubelet can't use any. */
function graceSeconds(pod: Pod, seen: Observation): number {
  if (isUnreachable(seen)) return 1;
  return Math.min(ownGraceSeconds(pod, seen.policy), graceLeftSeconds(seen.signal.deadline, seen.now));
}

/** Past the deadline nothing is waited for; without a record patience counts from the signal itself. */
export function escalatesAt({ pod, tier }: TieredPod, seen: Observation): Date {
  if (seen.now >= seen.signal.deadline) return seen.now;
  const firstRefusal = seen.record ? blockedSince(seen.record, tier) : seen.signal.at;
  // Not refused yet: escalation starts to count when the answer of this step is in.
  if (!firstRefusal) return seen.signal.deadline;
  return escalationTime(firstRefusal, ownGraceSeconds(pod, seen.policy), seen.signal.deadline, seen.policy);
}

function blockedSince(record: DrainRecord, tier: Tier): Date | undefined {
  const text = record.blockedSince?.[recordTier(tier)];
  return text === undefined ? undefined : new Date(text);
}

/**
 * A pod that would outlast the deadline keeps its time until the last look before the last call. Earlier would cost it
 * some: the API server counts the new grace from the first deletion, and makes what is over by then one second.
 */
export function tightening({ pod, endsAt }: EndingPod, seen: Observation): readonly Tightening[] {
  const { now, signal } = seen;
  // A kubelet that nobody hears of can't use the time, and nobody will look again.
  if (secondsUntil(lastCall(signal.deadline), now) > LOOK_SECONDS && !isUnreachable(seen)) return [];
  const left = graceLeftSeconds(signal.deadline, now);
  const latestEnd = new Date(Math.max(signal.deadline.getTime(), plusSeconds(now, left).getTime()));
  return endsAt > latestEnd ? [{ pod, graceSeconds: left }] : [];
}

/** The record knows two tiers: the relay is critical there. */
export function recordTier(tier: Tier): "apps" | "critical" {
  return tier === "apps" ? "apps" : "critical";
}
