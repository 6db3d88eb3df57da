/** What a step of a drain came to: the decision as operators know it, and how the message's loop goes on. */
import type { Outcome } from "../../../shared/domain/outcome.ts";

/** Few values: it is a dimension of a metric. */
export type DecisionName =
  | "ignored"
  | "stale"
  | "ambiguous"
  | "foreign"
  | "not-joined"
  | "node-gone"
  | "evict"
  | "wait"
  | "drained"
  | "unreachable"
  | "gave-up"
  | "unavailable"
  | "refused"
  | "failed"
  | "dry-run";

export interface Verdict {
  readonly decision: DecisionName;
  readonly outcome: Outcome;
  readonly nodeName?: string;
}
