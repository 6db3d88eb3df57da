/**
 * The part of the policy that says which silent nodes are fenced, by what proof, and what keeps that in bounds. A
 * `safeAfterSeconds` below what the arithmetic gives is refused, at synth and again when the function starts.
 */
import * as z from "zod";
import { type DogTimes, FENCING_BOUNDS, type SafeTime, safeTime } from "./fencing-bound.ts";

const wait = z.int().min(60).max(3600);

const fencingShape = {
  enabled: z.boolean(),
  /**
   * By what a node counts as dead: `ec2`, that EC2 says stopped or terminated; `watchdog`, also that T_safe has passed
   * for a node whose last Lease said it is armed and feeds on renewals only. A guest that is paused doesn't reset itself.
   */
  proof: z.enum(["ec2", "watchdog"]),
  /** How long neither Lease of a node moved before it is suspected. */
  suspectAfterSeconds: wait,
  /** Whether an instance that EC2 says is running may be stopped or terminated to have proof. */
  stop: z.enum(["stop", "never"]),
  /** How long nothing was heard of a node before its instance is stopped. */
  stopAfterSeconds: wait,
  bound: z.enum(FENCING_BOUNDS),
  /** E of the bound. */
  marginSeconds: z.int().min(1).max(600),
  /** T_safe, where it is to be longer than the bound asks for. */
  safeAfterSeconds: z.int().min(1).max(86_400).optional(),
  /** W and G, as the agents of these nodes are configured. What a node publishes counts too, if it asks for more. */
  watchdogTimeoutSeconds: z.int().min(1).max(3600),
  feedWithinSeconds: z.int().min(1).max(600),
};

export const fencingDefaults = z.strictObject({
  enabled: fencingShape.enabled.default(false),
  proof: fencingShape.proof.default("ec2"),
  suspectAfterSeconds: fencingShape.suspectAfterSeconds.default(60),
  stop: fencingShape.stop.default("stop"),
  stopAfterSeconds: fencingShape.stopAfterSeconds.default(180),
  bound: fencingShape.bound.default("3W"),
  marginSeconds: fencingShape.marginSeconds.default(5),
  safeAfterSeconds: fencingShape.safeAfterSeconds,
  watchdogTimeoutSeconds: fencingShape.watchdogTimeoutSeconds.default(60),
  feedWithinSeconds: fencingShape.feedWithinSeconds.default(10),
});
export const fencingOverrides = z.strictObject(fencingShape).partial();
export type FencingPolicy = z.infer<typeof fencingDefaults>;

/** Share of something, of which at least one may always be. */
const share = z.number().min(0).max(1);

/** What keeps a fault of the cluster, the network or ours from being taken for the death of many nodes. */
export const fencingBrakes = z.strictObject({
  /** More silent nodes than this in a pass: it only observes. */
  maxSilentShare: share.default(0.1),
  /** So many of a group at most are under fencing at once. */
  maxFencedShare: share.default(0.3),
  /** Labels whose value is the group of a node; the first that it has counts. Nodes with none are one group. */
  groupLabels: z
    .array(z.string().min(1))
    .default(["node.deckhouse.io/group", "eks.amazonaws.com/nodegroup", "karpenter.sh/nodepool"]),
});
export type FencingBrakes = z.infer<typeof fencingBrakes>;

/**
 * T_safe for one node: what was configured or follows from the assumed times, or what follows from the times that the
 * node published, whichever is longer.
 */
export function safeTimeFor(fencing: FencingPolicy, published?: DogTimes): SafeTime {
  const assumed = safeTime(fencing, fencing);
  const wanted = fencing.safeAfterSeconds;
  const configured =
    wanted !== undefined && wanted > assumed.seconds
      ? { seconds: wanted, arithmetic: `${wanted} s as configured, more than ${assumed.arithmetic}` }
      : assumed;
  const asked = published && safeTime(fencing, published);
  return asked && asked.seconds > configured.seconds ? asked : configured;
}

/** What is wrong with a policy's times, with the arithmetic; undefined where nothing is. */
export function faultOfTimes(fencing: FencingPolicy): string | undefined {
  const { safeAfterSeconds, suspectAfterSeconds, stopAfterSeconds } = fencing;
  const bound = safeTime(fencing, fencing);
  if (safeAfterSeconds !== undefined && safeAfterSeconds < bound.seconds)
    return `safeAfterSeconds ${safeAfterSeconds} s is below the bound ${fencing.bound}: ${bound.arithmetic}`;
  if (stopAfterSeconds < suspectAfterSeconds)
    return `stopAfterSeconds ${stopAfterSeconds} s comes before suspectAfterSeconds ${suspectAfterSeconds} s`;
  return undefined;
}
