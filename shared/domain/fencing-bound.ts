/**
 * When a node whose dog is fed by accepted renewals only must have reset itself: arithmetic for the time rule, shared by
 * the policy that refuses less, the function that waits for it, and the tests that try to break it.
 */

/**
 * How long after its last accepted renewal such a node can run on at the most.
 * - `3W` trusts no timing of the agent: a feed at the very end of the dog's patience, a crash whose close pings once
 *   more at the end of the next, and then W.
 * - `G+2W` trusts that no feed comes later than G after its renewal was sent, and allows for one crash.
 *
 * https://docs.kernel.org/watchdog/watchdog-api.html
 */
export const FENCING_BOUNDS = ["3W", "G+2W"] as const;
export type FencingBound = (typeof FENCING_BOUNDS)[number];

/** The two times of an agent and its dog, in seconds. */
export interface DogTimes {
  /** W: the dog's own timeout. */
  readonly watchdogTimeoutSeconds: number;
  /** G: age of a renewal up to which the agent feeds on it. */
  readonly feedWithinSeconds: number;
}

export interface SafeTime {
  /** T_safe, counted from when we first saw the last renewal, which is never earlier than the renewal itself. */
  readonly seconds: number;
  /** The sum as an operator can check it. */
  readonly arithmetic: string;
}

/** What the reset itself takes, after the dog has barked. */
const RESET_SECONDS = 2;

/** T_safe = bound + E + 2 s. @param rule `marginSeconds` is E: for clocks that don't run alike. */
export function safeTime(
  { bound, marginSeconds: e }: { readonly bound: FencingBound; readonly marginSeconds: number },
  { watchdogTimeoutSeconds: w, feedWithinSeconds: g }: DogTimes,
): SafeTime {
  switch (bound) {
    case "3W": {
      const seconds = 3 * w + e + RESET_SECONDS;
      return { seconds, arithmetic: `3 x W ${w} s + E ${e} s + ${RESET_SECONDS} s = ${seconds} s` };
    }
    case "G+2W": {
      const seconds = g + 2 * w + e + RESET_SECONDS;
      return { seconds, arithmetic: `G ${g} s + 2 x W ${w} s + E ${e} s + ${RESET_SECONDS} s = ${seconds} s` };
    }
  }
}
