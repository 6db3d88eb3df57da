/** When to look again after a wave of evictions, from how it was answered. */
import type { Pod } from "../../../shared/domain/pod.ts";
import type { NodePolicy } from "../../../shared/domain/policy.ts";
import type { Signal } from "../../../shared/domain/signal.ts";
import { escalationTime, ownGraceSeconds, RESERVE_SECONDS, secondsUntil } from "./times.ts";

/** No trouble makes an urgent drain pause longer, whatever Retry-After says: it is the reserve before the deadline. */
export const LONGEST_PAUSE_SECONDS = RESERVE_SECONDS;

export function decideLookAgain(wave: {
  readonly usualSeconds: number;
  readonly throttledSeconds: readonly number[];
  readonly unanswered: boolean;
  /** Pods that their budget refused just now. */
  readonly blocked: readonly Pod[];
  readonly now: Date;
  readonly signal: Signal;
  readonly policy: NodePolicy;
}): number {
  if (wave.throttledSeconds.length > 0) return Math.min(LONGEST_PAUSE_SECONDS, Math.max(1, ...wave.throttledSeconds));
  if (wave.unanswered) return 1;
  const escalations = wave.blocked
    .map((pod) => escalationTime(wave.now, ownGraceSeconds(pod, wave.policy), wave.signal.deadline, wave.policy))
    .map((when) => secondsUntil(when, wave.now));
  return Math.max(1, Math.min(wave.usualSeconds, ...escalations));
}
