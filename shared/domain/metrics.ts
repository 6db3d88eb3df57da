/** Names of metrics that a function writes and an alarm reads: they must agree letter by letter. */

export const METRICS_NAMESPACE = "nodekeeper";

/** Seconds from the event's own time, of the oldest signal of a batch that isn't done. Dimensions: METRIC_DIMENSIONS only. */
export const OLDEST_UNFINISHED_METRIC = "oldestUnfinishedSignalSeconds";

/** The two dimensions that every metric has; some counts have one more, of few values. */
export const METRIC_DIMENSIONS = { functionName: "service", cluster: "cluster" } as const;
