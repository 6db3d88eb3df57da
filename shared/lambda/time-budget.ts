/** The time of one invocation: what is unanswered when it is nearly over is given up in good order. */

/** Kept free at the end of an invocation, for settling its messages with the queue. */
const RESERVE_MS = 1_500;

/** A signal that aborts 1.5 s before the invocation's time ends. */
export function timeBudget(remainingMs: number): AbortSignal {
  return AbortSignal.timeout(Math.max(0, remainingMs - RESERVE_MS));
}
