/** Builds policies for tests: the defaults of an empty policy.json, with what a test names put over them. */
import { type NodePolicy, type Policy, policySchema } from "../../shared/domain/policy.ts";

/** `aPolicy({ default: { dryRun: true } })`: parts of the default may be given alone. */
export function aPolicy(given: Partial<Omit<Policy, "default">> & { default?: Partial<NodePolicy> } = {}): Policy {
  const base = policySchema.parse({});
  return { ...base, ...given, default: aNodePolicy(given.default) };
}

/** The policy for one node as `policyFor` gives it. */
export function aNodePolicy(given: Partial<NodePolicy> = {}): NodePolicy {
  return { ...policySchema.parse({}).default, ...given };
}
