/**
 * What the next step of an urgent drain is, from what the cluster shows now. Pure: an operator should be able to argue
 * with every line. The arithmetic is in times.ts, the pod rules in pods.ts.
 */
import type { DrainRecord } from "../../../shared/domain/drain-record.ts";
import type { ClusterNode } from "../../../shared/domain/node.ts";
import type { Pod } from "../../../shared/domain/pod.ts";
import type { NodePolicy } from "../../../shared/domain/policy.ts";
import type { Signal } from "../../../shared/domain/signal.ts";
import { classifyPod, type Tier } from "./pods.ts";
import {
  escalationTime,
  graceLeftSeconds,
  lastCall,
  latestStart,
  ownGraceSeconds,
  plusSeconds,
  secondsUntil,
} from "./times.ts";

export interface Observation {
  readonly now: Date;
  readonly signal: Signal;
  readonly node: Pick<ClusterNode, "ready">;
  readonly pods: readonly Pod[];
  readonly policy: NodePolicy;
  /** The record on the Node; undefined where none could be written. */
  readonly record: DrainRecord | undefined;
  /** Whether a Ready pod of the relay runs on another node. */
  readonly relayElsewhere: boolean;
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

export type Step =
  | {
      readonly kind: "evict";
      readonly evictions: readonly Eviction[];
      readonly tightenings: readonly Tightening[];
      readonly lookAgainSeconds: number;
      readonly because: string;
    }
  | { readonly kind: "wait"; readonly lookAgainSeconds: number; readonly because: string }
  /** No work seen: a second look decides. */
  | { readonly kind: "looks-empty"; readonly stuck: readonly Pod[]; readonly because: string }
  /** Everything is asked to go, and nobody is there to confirm it. */
  | { readonly kind: "unreachable"; readonly terminating: number; readonly because: string };

/** A waiting urgent node is looked at this often. */
const LOOK_SECONDS = 3;

export function decideStep(seen: Observation): Step {
  const groups = groupPods(seen);
  const due =
    seen.now >= seen.signal.deadline || isUnreachable(seen) ? groups.work : groups.work.filter(isDue(groups, seen));
  const evictions = due.map((one) => eviction(one, seen));
  const tightenings = isUnreachable(seen) ? [] : groups.terminating.flatMap((one) => tightening(one, seen));

  if (evictions.length + tightenings.length > 0) {
    const because = `${evictions.length} pods to evict, ${tightenings.length} to shorten, ${groups.terminating.length} ending`;
    return { kind: "evict", evictions, tightenings, lookAgainSeconds: nextLook(groups, seen), because };
  }
  if (groups.work.length > 0) {
    const because = `${groups.work.length} pods wait for their turn, ${groups.terminating.length} ending`;
    return { kind: "wait", lookAgainSeconds: nextLook(groups, seen), because };
  }
  if (groups.terminating.length > 0 && isUnreachable(seen)) {
    const because = `node is unreachable: ${groups.terminating.length} pods are asked to end, their kubelet can't confirm it`;
    return { kind: "unreachable", terminating: groups.terminating.length, because };
  }
  if (groups.terminating.length > 0) {
    return { kind: "wait", lookAgainSeconds: LOOK_SECONDS, because: `${groups.terminating.length} pods are ending` };
  }
  const because =
    groups.stuck.length > 0 ? `no work left; ${groups.stuck.length} pods are stuck ending` : "no work left";
  return { kind: "looks-empty", stuck: groups.stuck, because };
}

interface TieredPod {
  readonly pod: Pod;
  readonly tier: Tier;
}

interface Groups {
  readonly work: readonly TieredPod[];
  readonly terminating: readonly (TieredPod & { readonly endsAt: Date })[];
  readonly stuck: readonly Pod[];
}

function groupPods({ pods, now }: Observation): Groups {
  const classified = pods.map((pod) => ({ pod, as: classifyPod(pod, now) }));
  return {
    work: classified.flatMap(({ pod, as }) => (as.kind === "work" ? [{ pod, tier: as.tier }] : [])),
    terminating: classified.flatMap(({ pod, as }) =>
      as.kind === "terminating" ? [{ pod, tier: as.tier, endsAt: as.endsAt }] : [],
    ),
    stuck: classified.flatMap(({ pod, as }) => (as.kind === "stuck" ? [pod] : [])),
  };
}

function isUnreachable(seen: Observation): boolean {
  return seen.node.ready === "Unknown";
}

/** Whether a pod's turn has come: its tier's predecessors are gone, or its own grace leaves no more time to wait. */
function isDue(groups: Groups, seen: Observation): (one: TieredPod) => boolean {
  const present = new Set([...groups.work, ...groups.terminating].map((one) => one.tier));
  const late = (tier: Tier) => seen.now >= tierStart(tier, groups, seen);
  return ({ tier }) => {
    switch (tier) {
      case "apps":
        return true;
      case "critical":
        return !present.has("apps") || late("critical");
      case "relay":
        return late("relay") || (!present.has("apps") && !present.has("critical") && seen.relayElsewhere);
    }
  };
}

function tierStart(tier: Tier, groups: Groups, { signal, policy }: Observation): Date {
  const graces = groups.work.filter((one) => one.tier === tier).map(({ pod }) => ownGraceSeconds(pod, policy));
  return latestStart(signal.deadline, graces);
}

function eviction({ pod, tier }: TieredPod, seen: Observation): Eviction {
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
function escalatesAt({ pod, tier }: TieredPod, seen: Observation): Date {
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
function tightening({ pod, endsAt }: Groups["terminating"][number], seen: Observation): readonly Tightening[] {
  const { now, signal } = seen;
  if (secondsUntil(lastCall(signal.deadline), now) > LOOK_SECONDS) return [];
  const left = graceLeftSeconds(signal.deadline, now);
  const latestEnd = new Date(Math.max(signal.deadline.getTime(), plusSeconds(now, left).getTime()));
  return endsAt > latestEnd ? [{ pod, graceSeconds: left }] : [];
}

/** In 3 s, or when the next tier starts or the next budget's patience ends, if that is sooner; at least 1 s. */
function nextLook(groups: Groups, seen: Observation): number {
  const moments = groups.work.flatMap((one) => [
    escalatesAt(one, seen),
    ...(one.tier === "apps" ? [] : [tierStart(one.tier, groups, seen)]),
  ]);
  const coming = moments.map((when) => secondsUntil(when, seen.now)).filter((seconds) => seconds > 0);
  return Math.max(1, Math.min(LOOK_SECONDS, ...coming));
}

/** The record knows two tiers: the relay is critical there. */
export function recordTier(tier: Tier): "apps" | "critical" {
  return tier === "apps" ? "apps" : "critical";
}

/** A throttled drain comes back within this, whatever Retry-After says: two minutes are short. */
const LONGEST_THROTTLE_SECONDS = 10;

/** When to look again after a wave, from how it was answered. */
export function decideLookAgain(wave: {
  readonly usualSeconds: number;
  readonly throttledSeconds: readonly number[];
  readonly unanswered: boolean;
  /** Pods that their budget refused just now. */
  readonly refused: readonly Pod[];
  readonly now: Date;
  readonly signal: Signal;
  readonly policy: NodePolicy;
}): number {
  if (wave.throttledSeconds.length > 0)
    return Math.min(LONGEST_THROTTLE_SECONDS, Math.max(1, ...wave.throttledSeconds));
  if (wave.unanswered) return 1;
  const escalations = wave.refused
    .map((pod) => escalationTime(wave.now, ownGraceSeconds(pod, wave.policy), wave.signal.deadline, wave.policy))
    .map((when) => secondsUntil(when, wave.now));
  return Math.max(1, Math.min(wave.usualSeconds, ...escalations));
}
