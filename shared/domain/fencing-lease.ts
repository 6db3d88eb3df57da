/**
 * What a fencing-agent says of itself in its Lease, which fence-node reads. The agent writes it without a schema
 * library, so this file has no imports; `read-fencing-lease.ts` reads it.
 */

/** Leases of fencing-agents live here, each under the name of its node. */
export const FENCING_LEASE_NAMESPACE = "nodekeeper";

/** Annotation on such a Lease: a `FencingStatement` as JSON. */
export const FENCING_ANNOTATION = "nodekeeper.dev/fencing";

/**
 * - `watchdog`: the dog is fed only after a renewal that the API server accepted; a node that is cut off resets itself.
 * - `local`: the dog is fed by the agent's own loop; only a node that hangs resets itself.
 * - `notify`: no dog.
 */
export const FENCING_MODES = ["watchdog", "local", "notify"] as const;
export type FencingMode = (typeof FENCING_MODES)[number];

/** One renewal. `renewTime` of the Lease is for people: clocks of nodes and ours are never compared. */
export interface FencingStatement {
  readonly v: 1;
  /** The mode that is in force, which is `notify` too where another one was asked for but can't be had. */
  readonly mode: FencingMode;
  /** /proc/sys/kernel/random/boot_id: tells one life of a node from the next. */
  readonly bootId: string;
  /** The dog's own timeout as the kernel says it, in whole seconds; undefined where there is no dog. */
  readonly watchdogTimeoutSeconds?: number;
  /** Age of a renewal, from its sending, up to which the agent feeds on it (G), in seconds. */
  readonly feedWithinSeconds: number;
  /** Whether a dog runs that resets this node unless renewals go on. */
  readonly armed: boolean;
  /** One per process of the agent. */
  readonly agent: string;
  /** Grows by one with every renewal of this agent. */
  readonly sequence: number;
}
