/** What a drain reports of itself. The story notes facts, the journal turns them into log lines and metrics, a test reads them. */
import type { Outcome } from "../../shared/domain/outcome.ts";
import type { Signal } from "../../shared/domain/signal.ts";
import type { Verdict } from "./decide/verdict.ts";

export type Fact =
  | ({
      readonly kind: "decided";
      readonly signal: Signal;
      readonly secondsSinceEvent: number;
    } & Verdict)
  /** A signal's message is seen for the first time. */
  | { readonly kind: "received" }
  /** A message without a signal: not ours, or unreadable. */
  | { readonly kind: "settled-at-the-door"; readonly decision: "not-ours" | "unreadable"; readonly outcome: Outcome }
  | { readonly kind: "messages-unsettled"; readonly messageIds: readonly string[]; readonly error: unknown }
  | { readonly kind: "cordoned"; readonly nodeName: string; readonly secondsSinceEvent: number }
  | { readonly kind: "cordon-incomplete"; readonly nodeName: string; readonly because: string }
  | { readonly kind: "record-left-alone"; readonly nodeName: string; readonly because: string }
  | { readonly kind: "eviction-blocked"; readonly pod: string; readonly budget: string; readonly because: string }
  | {
      readonly kind: "deleted-past-budget";
      readonly pod: string;
      readonly budget: string;
      readonly graceSeconds: number | undefined;
    }
  | { readonly kind: "pod-failed"; readonly pod: string; readonly because: string }
  | { readonly kind: "pods-stuck"; readonly nodeName: string; readonly pods: readonly string[] }
  | {
      readonly kind: "emptied";
      readonly nodeName: string;
      readonly secondsSinceEvent: number;
      readonly secondsLeft: number;
    }
  | { readonly kind: "event-not-posted"; readonly because: string }
  | { readonly kind: "step-failed"; readonly error: unknown };

/** `about` is the signal that the fact belongs to. */
export type Note = (fact: Fact, about?: Signal) => void;
