/**
 * What the next step of an urgent drain is, from what the cluster shows now. Pure: an operator should be able to argue
 * with every line. Which pods: pods.ts; with what grace: evictions.ts; the arithmetic: times.ts.
 */
import type { Pod } from "../../../shared/domain/pod.ts";
import {
  type EndingPod,
  type Eviction,
  escalatesAt,
  eviction,
  type TieredPod,
  type Tightening,
  tightening,
} from "./evictions.ts";
import { isUnreachable, LOOK_SECONDS, type Observation } from "./observation.ts";
import { classifyPod, type Tier } from "./pods.ts";
import { latestStart, ownGraceSeconds, secondsUntil } from "./times.ts";

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
  | { readonly kind: "unreachable"; readonly unconfirmed: number; readonly because: string };

export function decideStep(seen: Observation): Step {
  const groups = groupPods(seen);
  const due =
    seen.now >= seen.signal.deadline || isUnreachable(seen) ? groups.work : groups.work.filter(isDue(groups, seen));
  const evictions = due.map((one) => eviction(one, seen));
  const tightenings = groups.terminating.flatMap((one) => tightening(one, seen));

  if (evictions.length + tightenings.length > 0) {
    const because = `${evictions.length} pods to evict, ${tightenings.length} to shorten, ${groups.terminating.length} ending`;
    return { kind: "evict", evictions, tightenings, lookAgainSeconds: nextLook(groups, seen), because };
  }
  if (groups.work.length > 0) {
    const because = `${groups.work.length} pods wait for their turn, ${groups.terminating.length} ending`;
    return { kind: "wait", lookAgainSeconds: nextLook(groups, seen), because };
  }
  const unconfirmed = groups.terminating.length + groups.stuck.length;
  if (unconfirmed > 0 && isUnreachable(seen)) {
    const because = `node is unreachable: ${unconfirmed} pods are asked to end, their kubelet can't confirm it`;
    return { kind: "unreachable", unconfirmed, because };
  }
  if (groups.terminating.length > 0) {
    return { kind: "wait", lookAgainSeconds: LOOK_SECONDS, because: `${groups.terminating.length} pods are ending` };
  }
  const because =
    groups.stuck.length > 0 ? `no work left; ${groups.stuck.length} pods are stuck ending` : "no work left";
  return { kind: "looks-empty", stuck: groups.stuck, because };
}

interface Groups {
  readonly work: readonly TieredPod[];
  readonly terminating: readonly EndingPod[];
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

/** In 3 s, or when the next tier starts or the next budget's patience ends, if that is sooner; at least 1 s. */
function nextLook(groups: Groups, seen: Observation): number {
  const moments = groups.work.flatMap((one) => [
    escalatesAt(one, seen),
    ...(one.tier === "apps" ? [] : [tierStart(one.tier, groups, seen)]),
  ]);
  const coming = moments.map((when) => secondsUntil(when, seen.now)).filter((seconds) => seconds > 0);
  return Math.max(1, Math.min(LOOK_SECONDS, ...coming));
}
