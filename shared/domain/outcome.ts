/**
 * How a step of a signal's loop ends. One message is one loop: `again` makes that very message come back, `done`
 * acknowledges it, `dead-letter` sets it aside with a reason because retrying can't help.
 */

export type Outcome =
  | { readonly kind: "done"; readonly because: string }
  | { readonly kind: "again"; readonly afterSeconds: number; readonly because: string }
  | { readonly kind: "dead-letter"; readonly because: string };

/** Bounds of `again`: SQS allows 0 to 43,200 s of visibility; 15 minutes keep a loop lively whatever is asked. */
const AGAIN_SECONDS = { min: 1, max: 900 } as const;

export function done(because: string): Outcome {
  return { kind: "done", because };
}

/** Come back after whole seconds, rounded up and clamped to 1..900. */
export function again(afterSeconds: number, because: string): Outcome {
  const whole = Number.isFinite(afterSeconds) ? Math.ceil(afterSeconds) : AGAIN_SECONDS.max;
  return { kind: "again", afterSeconds: Math.min(AGAIN_SECONDS.max, Math.max(AGAIN_SECONDS.min, whole)), because };
}

export function deadLetter(because: string): Outcome {
  return { kind: "dead-letter", because };
}
