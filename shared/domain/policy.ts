/**
 * What an installation wants done with its nodes. Written as policy.json into the bundle at synth and parsed again
 * when a function starts: the stack and the functions share this schema and nothing else of the configuration.
 */
import * as z from "zod";
import {
  type FencingPolicy,
  faultOfTimes,
  fencingBrakes,
  fencingDefaults,
  fencingOverrides,
} from "./fencing-policy.ts";
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
  /** What happens to a node of which nothing is heard any more. */
  fencing: fencingDefaults.prefault({}),
};

const policyShape = z.strictObject({
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
    .array(
      z.strictObject({
        selector: labelSelector,
        policy: z.strictObject({ ...nodePolicyShape, fencing: fencingOverrides }).partial(),
      }),
    )
    .default([]),
  /** Brakes on fencing, for the whole cluster. */
  fencing: fencingBrakes.prefault({}),
});

export type Policy = z.infer<typeof policyShape>;
export type NodePolicy = Policy["default"];
type Override = Policy["overrides"][number]["policy"];

/** The times of each node policy as it will be in force are checked here, so that neither synth nor start lets a bad one by. */
export const policySchema = policyShape.superRefine((policy, context) => {
  const places: readonly { readonly path: readonly (string | number)[]; readonly override: Override }[] = [
    { path: ["default"], override: {} },
    ...policy.overrides.map(({ policy: override }, index) => ({ path: ["overrides", index, "policy"], override })),
  ];
  for (const { path, override } of places) {
    const message = faultOfTimes(overridden(policy.default, override).fencing);
    if (message !== undefined) context.addIssue({ code: "custom", path: [...path, "fencing"], message });
  }
});

/** The policy for one node: the default, overridden by the first entry whose selector matches its labels. */
export function policyFor(policy: Policy, node: Pick<ClusterNode, "labels">): NodePolicy {
  const override = policy.overrides.find((one) => matchesSelector(node.labels, one.selector));
  return overridden(policy.default, override?.policy ?? {});
}

/** Fencing is overridden key by key: whoever switches it on for some nodes need not say all of its times again. */
function overridden(base: NodePolicy, { fencing = {}, ...override }: Override): NodePolicy {
  return { ...base, ...given(override), fencing: { ...base.fencing, ...given(fencing) } };
}

/** Without the keys that are there but undefined, which would take the base's values away. */
function given(values: object) {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}

/** The fencing of each kind of node that may be fenced. Where there is none the installation needs no such function. */
export function fencingPolicies({ default: base, overrides }: Policy): readonly FencingPolicy[] {
  const all = [base, ...overrides.map(({ policy }) => overridden(base, policy))];
  return all.map(({ fencing }) => fencing).filter(({ enabled }) => enabled);
}

/** Whether the node belongs to another controller. */
export function isIgnored(policy: Policy, node: Pick<ClusterNode, "labels">): boolean {
  return policy.ignore.some((selector) => matchesSelector(node.labels, selector));
}
