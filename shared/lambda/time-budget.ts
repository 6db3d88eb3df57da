/** The time of one invocation: what is unanswered when it is nearly over is given up in good order. */

/** Kept free at the end of an invocation, for settling what it began. */
const RESERVE_MS = 1_500;

/** A signal that aborts 1.5 s before the invocation's time ends. */
export function timeBudget(remainingMs: number): AbortSignal {
  return AbortSignal.timeout(Math.max(0, remainingMs - RESERVE_MS));
}

/** When that is: for whoever must not begin what it can't end. */
export function budgetEnd(now: Date, remainingMs: number): Date {
  return new Date(now.getTime() + Math.max(0, remainingMs - RESERVE_MS));
}
