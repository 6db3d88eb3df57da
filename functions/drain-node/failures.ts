/** From errors to verdicts: one place that says what comes back, what an operator must see, and when trying ends. */
import { again, deadLetter } from "../../shared/domain/outcome.ts";
import type { Signal } from "../../shared/domain/signal.ts";
import { ClusterRefused, ClusterUnavailable } from "../../shared/ports/cluster.ts";
import { LONGEST_PAUSE_SECONDS } from "./decide/look-again.ts";
import { givesUpAt } from "./decide/times.ts";
import type { Verdict } from "./decide/verdict.ts";
import type { DrainTools } from "./tools.ts";

export type Guarded<T> =
  | { readonly kind: "ok"; readonly value: T }
  | { readonly kind: "failed"; readonly verdictFor: (signal: Signal) => Verdict };

/** Runs `work`; whatever it throws becomes a verdict, so that one signal's trouble stays its own. */
export async function guarded<T>(work: () => Promise<T>, tools: DrainTools): Promise<Guarded<T>> {
  try {
    return { kind: "ok", value: await work() };
  } catch (error) {
    const trouble = troubleOf(error, tools);
    return { kind: "failed", verdictFor: (signal) => verdictOn(trouble, signal, tools) };
  }
}

/** What kept a step from coming to an end, and the seconds after which another try makes sense. */
export interface Trouble {
  readonly decision: "unavailable" | "refused" | "failed";
  readonly seconds: number;
  readonly because: string;
}

/** The step is tried again until the signal is given up; then the message is set aside. */
export function verdictOn({ decision, seconds, because }: Trouble, signal: Signal, { clock }: DrainTools): Verdict {
  const outcome =
    clock.now() > givesUpAt(signal)
      ? deadLetter(`gave up after the deadline: ${because}`)
      : again(Math.min(seconds, LONGEST_PAUSE_SECONDS), because);
  return { decision, outcome };
}

function troubleOf(error: unknown, { note, timeBudget }: DrainTools): Trouble {
  if (timeBudget.aborted && (error === timeBudget.reason || error instanceof ClusterUnavailable)) {
    return { decision: "unavailable", seconds: 1, because: `the invocation's time was over: ${messageOf(error)}` };
  }
  if (error instanceof ClusterUnavailable) {
    return { decision: "unavailable", seconds: error.retryAfterSeconds, because: error.message };
  }
  if (error instanceof ClusterRefused) {
    // It may be a role map that is being rolled out.
    return { decision: "refused", seconds: LONGEST_PAUSE_SECONDS, because: error.message };
  }
  note({ kind: "step-failed", error });
  return { decision: "failed", seconds: LONGEST_PAUSE_SECONDS, because: `unexpected: ${messageOf(error)}` };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
