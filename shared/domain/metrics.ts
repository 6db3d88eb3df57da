/** Names of metrics that a function writes and an alarm reads: they must agree letter by letter. */

export const METRICS_NAMESPACE = "nodekeeper";

/** Seconds from the event's own time, of the oldest signal of a batch that isn't done. Dimensions: METRIC_DIMENSIONS only. */
export const OLDEST_UNFINISHED_METRIC = "oldestUnfinishedSignalSeconds";

/** The two dimensions that every metric has; some counts have one more, of few values. */
export const METRIC_DIMENSIONS = { functionName: "service", cluster: "cluster" } as const;

/** What fence-node writes in each pass and the stack reads. */
export const FENCING_METRICS = {
  /** Share of the observed nodes whose Leases all stood still, 0 to 1. */
  silentShare: "silentShare",
  /** Nodes under suspicion, or being fenced. */
  suspected: "nodesSuspected",
  /** Nodes whose kubelet is silent while their agent isn't: reported, not fenced. */
  reachable: "nodesReachableWithoutKubelet",
  /** 1 for each pass in which a brake kept it from acting: too many silent, or too many of a group under fencing. */
  heldByBrake: "fencingHeldByBrake",
  /** 1 for each pass in which Leases or observations could not be read: until they can, nobody is watched. */
  passesFailed: "fencingPassesFailed",
  /** 1 for each instance, object or Node that could not be ended, and for each node whose step broke off with an error. */
  stepsFailed: "fencingStepsFailed",
  /** 1 for each node whose pods were let go. One more dimension: `proof`, one of FENCING_PROOFS. */
  fenced: "nodesFenced",
} as const;

/** By what a node was known to be dead. */
export const FENCING_PROOFS = ["ec2", "watchdog"] as const;
