/** Waiting for something that only a running guest can bring about. */
import type { RunningProgram } from "../processes.ts";
import { waitUntil } from "../wait.ts";

/** @throws when the time is over or the guest ends before `holds` says true, with the end of the guest's console. */
export type Until = (what: string, holds: () => boolean, withinMilliseconds: number) => Promise<void>;

const EVERY_MILLISECONDS = 20;
const LINES_IN_ERROR = 25;

/** `print` is all that the guest said so far. */
export function untilInGuest(program: RunningProgram, print: () => string): Until {
  return async (what, holds, withinMilliseconds) => {
    const heldOrEnded = () => holds() || !program.isRunning();
    try {
      await waitUntil(what, heldOrEnded, { withinMilliseconds, everyMilliseconds: EVERY_MILLISECONDS });
      // Its last words may be what was waited for.
      if (!holds()) throw new Error(`waiting until ${what}: the guest ended before`);
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw new Error(`${reason}; ${tailOf(print())}`, { cause });
    }
  };
}

export function tailOf(console: string): string {
  return `the guest's console ends with\n${console.trimEnd().split("\n").slice(-LINES_IN_ERROR).join("\n")}`;
}
