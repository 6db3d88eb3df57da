/** When to look again after a wave of evictions, from how it was answered. */
import type { Pod } from "../../../shared/domain/pod.ts";
import type { NodePolicy } from "../../../shared/domain/policy.ts";
import type { Signal } from "../../../shared/domain/signal.ts";
import { escalationTime, ownGraceSeconds, secondsUntil } from "./times.ts";

/** A throttled drain comes back within this, whatever Retry-After says: two minutes are short. */
const LONGEST_THROTTLE_SECONDS = 10;

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
