/**
 * What an installation wants done with its nodes. Written as policy.json into the bundle at synth and parsed again
 * when a function starts: the stack and the functions share this schema and nothing else of the configuration.
 */
import * as z from "zod";
import { KARPENTER_NODEPOOL_LABEL } from "./keys.ts";
import type { ClusterNode } from "./node.ts";
import { labelSelector, matchesSelector } from "./selector.ts";

const seconds = z.int().min(0).max(3600);

const nodePolicyShape = {
  /** How long a budget that refuses is respected at least, time permitting; longer while a pod's grace leaves time. */
  pdbPatienceSeconds: seconds,
  /** No pod gets more grace than `max`, whatever it asks for. */
  podGraceSeconds: z.strictObject({ max: z.int().min(1).max(3600).optional() }),
  /** Effect of the interruption taint; `NoExecute` lets the taint manager end pods without asking their budgets. */
  taint: z.enum(["NoSchedule", "PreferNoSchedule", "NoExecute", "off"]),
  /** Observe, decide and log, but change nothing. */
  dryRun: z.boolean(),
};

const defaults = {
  pdbPatienceSeconds: nodePolicyShape.pdbPatienceSeconds.default(20),
  podGraceSeconds: nodePolicyShape.podGraceSeconds.default({}),
  taint: nodePolicyShape.taint.default("NoSchedule"),
  dryRun: nodePolicyShape.dryRun.default(false),
};

export const policySchema = z.strictObject({
  v: z.literal(1).default(1),
  /** Nodes that another controller drains. A node that matches any of these selectors is never touched. */
  ignore: z
    .array(labelSelector)
    .default([{ matchLabels: {}, matchExpressions: [{ key: KARPENTER_NODEPOOL_LABEL, operator: "Exists" }] }]),
  /**
   * EC2 tag by which an instance that has no Node is told to be of this cluster (it has yet to join) or foreign.
   * Where the cluster knows the instance, the cluster's word counts and EC2 isn't asked.
   * Default: `kubernetes.io/cluster/<cluster>`, with any value.
   */
  requireTag: z.strictObject({ name: z.string().min(1).max(128), value: z.string().max(256).optional() }).optional(),
  default: z.strictObject(defaults).prefault({}),
  /** Overrides for some nodes: the first whose selector matches wins, and what it leaves out is the default's. */
  overrides: z
    .array(z.strictObject({ selector: labelSelector, policy: z.strictObject(nodePolicyShape).partial() }))
    .default([]),
});

export type Policy = z.infer<typeof policySchema>;
export type NodePolicy = Policy["default"];

/** The policy for one node: the default, overridden by the first entry whose selector matches its labels. */
export function policyFor(policy: Policy, node: Pick<ClusterNode, "labels">): NodePolicy {
  const override = policy.overrides.find((one) => matchesSelector(node.labels, one.selector));
  const given = Object.entries(override?.policy ?? {}).filter(([, value]) => value !== undefined);
  return { ...policy.default, ...Object.fromEntries(given) };
}

/** Whether the node belongs to another controller. */
export function isIgnored(policy: Policy, node: Pick<ClusterNode, "labels">): boolean {
  return policy.ignore.some((selector) => matchesSelector(node.labels, selector));
}
