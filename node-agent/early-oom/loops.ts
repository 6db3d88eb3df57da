/** What turns early-oom: the quick loop, as fast as its turns ask for, and chores beside it that it never waits for. */
import { setTimeout as sleep } from "node:timers/promises";
import { reasonOf } from "../log.ts";
import type { EarlyOom } from "./early-oom.ts";
import type { Journal } from "./journal.ts";

/** After a turn that failed, and between words about it. */
const FAILED_PAUSE_MS = 1_000;

export interface Turning {
  readonly earlyOom: EarlyOom;
  readonly journal: Journal;
  /** Monotonic milliseconds. */
  readonly now: () => number;
}

/** A turn that fails, since a file can't be read for once, must not end the watch: it is said, and the next one tries. */
export async function turnUntil(stop: AbortSignal, { earlyOom, journal, now }: Turning): Promise<void> {
  let dueAtMs = now();
  while (!stop.aborted) {
    const startedAtMs = now();
    let pauseMs = FAILED_PAUSE_MS;
    try {
      pauseMs = earlyOom.turn();
      // Timers may come a fraction of a millisecond early.
      journal.turned(startedAtMs, Math.max(startedAtMs - dueAtMs, 0));
    } catch (error) {
      journal.found("loop", [`a look at the node failed: ${reasonOf(error)}`]);
    }
    dueAtMs = now() + pauseMs;
    await sleep(pauseMs, undefined, { signal: stop }).catch(() => undefined);
  }
}

/** Again and again, but never twice at a time. One that fails is said: it must not end the watch. */
export function every(ms: number, journal: Journal, chore: () => Promise<void>): NodeJS.Timeout {
  const about = Symbol("chore");
  let isBusy = false;
  return setInterval(() => {
    if (isBusy) return;
    isBusy = true;
    void chore()
      .then(
        () => journal.found(about, []),
        (error: unknown) => journal.found(about, [`a chore failed: ${reasonOf(error)}`]),
      )
      .finally(() => {
        isBusy = false;
      });
  }, ms);
}
