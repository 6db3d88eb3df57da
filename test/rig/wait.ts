/** Bounded waiting in tests and in the rig: a condition is asked until it holds, and a late answer is an error. */
import { setTimeout as sleep } from "node:timers/promises";

export interface Patience {
  /** Default 10,000. */
  readonly withinMilliseconds?: number;
  /** Default 100. */
  readonly everyMilliseconds?: number;
}

/**
 * Resolves as soon as `holds` says true; `what` is a sentence for the message.
 * @throws when the time is over, or what `holds` throws.
 */
export async function waitUntil(
  what: string,
  holds: () => boolean | Promise<boolean>,
  { withinMilliseconds = 10_000, everyMilliseconds = 100 }: Patience = {},
): Promise<void> {
  const end = performance.now() + withinMilliseconds;
  while (!(await holds())) {
    if (performance.now() > end) throw new Error(`waiting until ${what}: not within ${withinMilliseconds} ms`);
    await sleep(everyMilliseconds);
  }
}
