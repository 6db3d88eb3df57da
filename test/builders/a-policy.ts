/** Builds policies for tests: the defaults of an empty policy.json, with what a test names put over them. */
import { type NodePolicy, type Policy, policySchema } from "../../shared/domain/policy.ts";

type NodePolicyParts = Partial<Omit<NodePolicy, "fencing">> & { fencing?: Partial<NodePolicy["fencing"]> };

/** `aPolicy({ default: { dryRun: true } })`: parts of the default, and of its fencing, may be given alone. */
export function aPolicy(given: Partial<Omit<Policy, "default">> & { default?: NodePolicyParts } = {}): Policy {
  const base = policySchema.parse({});
  return { ...base, ...given, default: aNodePolicy(given.default) };
}

/** The policy for one node as `policyFor` gives it. */
export function aNodePolicy({ fencing = {}, ...given }: NodePolicyParts = {}): NodePolicy {
  const base = policySchema.parse({}).default;
  return { ...base, ...given, fencing: { ...base.fencing, ...fencing } };
}
