/** The port `Clock` on the machine's own time. */
import { setTimeout } from "node:timers/promises";
import type { Clock } from "../ports/clock.ts";

export const systemClock: Clock = {
  now: () => new Date(),
  async sleep(ms, signal) {
    try {
      await setTimeout(ms, undefined, { ...(signal && { signal }) });
    } catch (error) {
      // Node rejects with an AbortError of its own; whoever aborted had a better reason.
      throw signal?.aborted ? signal.reason : error;
    }
  },
};
