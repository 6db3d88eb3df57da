/** Counts what happened to the agent since it started, for its metrics. */
import type { Event } from "./words.ts";

export const RENEWAL_RESULTS = ["accepted", "conflict", "refused", "unanswered"] as const;
export type RenewalResult = (typeof RENEWAL_RESULTS)[number];

export interface Counts {
  readonly renewals: Readonly<Record<RenewalResult, number>>;
  readonly feeds: number;
  readonly feedsFailed: number;
  /** The renewal had become too old when the feed's turn came. */
  readonly feedsSkipped: number;
}

export const NO_COUNTS: Counts = {
  renewals: { accepted: 0, conflict: 0, refused: 0, unanswered: 0 },
  feeds: 0,
  feedsFailed: 0,
  feedsSkipped: 0,
};

export function countEvent(counts: Counts, event: Event): Counts {
  const renewed = (result: RenewalResult): Counts => {
    return { ...counts, renewals: { ...counts.renewals, [result]: counts.renewals[result] + 1 } };
  };
  switch (event.kind) {
    case "renewal accepted":
      return renewed("accepted");
    case "renewal failed":
      return renewed(event.reason);
    case "fed":
      return { ...counts, feeds: counts.feeds + 1 };
    case "feeding failed":
      return { ...counts, feedsFailed: counts.feedsFailed + 1 };
    case "feeding skipped":
      return { ...counts, feedsSkipped: counts.feedsSkipped + 1 };
    case "ticked":
    case "node read":
    case "node unread":
    case "device seen":
    case "opened":
    case "open refused":
    case "open skipped":
    case "let go":
    case "crashes counted":
    case "crashes unknown":
    case "termination asked":
      return counts;
  }
}
