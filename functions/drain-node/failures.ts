/** From errors to verdicts: one place that says what comes back, what an operator must see, and when trying ends. */
import { again, deadLetter } from "../../shared/domain/outcome.ts";
import type { Signal } from "../../shared/domain/signal.ts";
import { ClusterRefused, ClusterUnavailable } from "../../shared/ports/cluster.ts";
import { plusSeconds } from "./decide/times.ts";
import type { DrainTools } from "./tools.ts";
import type { Verdict } from "./verdict.ts";

/** A signal whose drain can't be carried out is given up this long after its deadline (or its start, if that came later). */
export const GIVE_UP_AFTER_SECONDS = 300;

/** Pauses before the next try where nothing else is known. */
const RETRY_SECONDS = { timeIsUp: 1, refused: 5, unexpected: 5 } as const;

export type Guarded<T> =
  | { readonly kind: "ok"; readonly value: T }
  | { readonly kind: "failed"; readonly verdictFor: (signal: Signal) => Verdict };

/** Runs `work`; whatever it throws becomes a verdict, so that one signal's trouble stays its own. */
export async function guarded<T>(work: () => Promise<T>, tools: DrainTools): Promise<Guarded<T>> {
  try {
    return { kind: "ok", value: await work() };
  } catch (error) {
    return { kind: "failed", verdictFor: verdictOf(error, tools) };
  }
}

function verdictOf(error: unknown, tools: DrainTools): (signal: Signal) => Verdict {
  if (tools.timeBudget.aborted) return (signal) => unavailable(signal, "the invocation's time was over", tools);
  if (error instanceof ClusterUnavailable) {
    return (signal) => unavailable(signal, error.message, tools, error.retryAfterSeconds);
  }
  if (error instanceof ClusterRefused) {
    return (signal) => ({ decision: "refused", outcome: retry(signal, RETRY_SECONDS.refused, error.message, tools) });
  }
  tools.note({ kind: "step-failed", error });
  const because = `unexpected: ${error instanceof Error ? error.message : String(error)}`;
  return (signal) => ({ decision: "failed", outcome: retry(signal, RETRY_SECONDS.unexpected, because, tools) });
}

export function unavailable(
  signal: Signal,
  because: string,
  tools: DrainTools,
  seconds: number = RETRY_SECONDS.timeIsUp,
): Verdict {
  return { decision: "unavailable", outcome: retry(signal, seconds, because, tools) };
}

function retry(signal: Signal, seconds: number, because: string, { clock }: DrainTools) {
  const lastTry = plusSeconds(signal.deadline, GIVE_UP_AFTER_SECONDS);
  return clock.now() > lastTry ? deadLetter(`gave up after the deadline: ${because}`) : again(seconds, because);
}
