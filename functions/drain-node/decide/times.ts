/** The arithmetic of an urgent drain against its deadline: what grace a pod gets, and when its turn and its budget's end come. */

import type { Pod } from "../../../shared/domain/pod.ts";
import type { NodePolicy } from "../../../shared/domain/policy.ts";
import type { Signal } from "../../../shared/domain/signal.ts";

/** What is kept free before the deadline: for the kubelet to stop containers and for us to look again. */
export const RESERVE_SECONDS = 5;

/** A drain that isn't finished by then is given up: the instance has been gone for minutes, or never went. */
const GIVE_UP_AFTER_SECONDS = 300;

/** No tier holds back longer than this for the grace of the next one. */
const LONGEST_HEADSTART_SECONDS = 60;

export function secondsUntil(then: Date, now: Date): number {
  return (then.getTime() - now.getTime()) / 1000;
}

export function plusSeconds(when: Date, seconds: number): Date {
  return new Date(when.getTime() + seconds * 1000);
}

/** When trying ends: 5 min after the deadline, or after the signal first came, if that was later. */
export function givesUpAt({ deadline, receivedAt = deadline }: Pick<Signal, "deadline" | "receivedAt">): Date {
  return plusSeconds(new Date(Math.max(deadline.getTime(), receivedAt.getTime())), GIVE_UP_AFTER_SECONDS);
}

/** The moment by which pods should have ended. */
export function lastCall(deadline: Date): Date {
  return plusSeconds(deadline, -RESERVE_SECONDS);
}

/** From then on pods are evicted even from a node that can't be cordoned: what lands there again still has a minute. */
export function lastChance(deadline: Date): Date {
  return plusSeconds(lastCall(deadline), -LONGEST_HEADSTART_SECONDS);
}

/** The grace a pod would get with all the time in the world: its own, bounded by policy; at least 1 s, for 0 is a force deletion. */
export function ownGraceSeconds(pod: Pick<Pod, "graceSeconds">, policy: NodePolicy): number {
  return Math.max(1, Math.min(pod.graceSeconds, policy.podGraceSeconds.max ?? pod.graceSeconds));
}

/** Whole seconds left before the last call, never less than 1. */
export function graceLeftSeconds(deadline: Date, now: Date): number {
  return Math.max(1, Math.floor(secondsUntil(lastCall(deadline), now)));
}

/** When a tier must start at the latest so that its longest grace (60 s at most) still fits before the last call. */
export function latestStart(deadline: Date, graces: readonly number[]): Date {
  const longest = Math.max(0, ...graces.map((seconds) => Math.min(seconds, LONGEST_HEADSTART_SECONDS)));
  return plusSeconds(lastCall(deadline), -longest);
}

/**
 * From when on a pod whose budget refuses is deleted past the budget: when the patience since the first refusal is over,
 * but not before its own grace makes it necessary. Patience never takes more than half of what was left at the first refusal, so
 * that a notice that came late still leaves the pod some grace.
 */
export function escalationTime(
  firstRefusal: Date,
  graceSeconds: number,
  deadline: Date,
  policy: Pick<NodePolicy, "pdbPatienceSeconds">,
): Date {
  const half = Math.max(0, secondsUntil(lastCall(deadline), firstRefusal) / 2);
  const patienceEnds = plusSeconds(firstRefusal, Math.min(policy.pdbPatienceSeconds, half));
  const graceNeeds = plusSeconds(lastCall(deadline), -graceSeconds);
  return new Date(Math.max(patienceEnds.getTime(), graceNeeds.getTime()));
}
