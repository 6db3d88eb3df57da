/** Reads what the stack wrote beside a function's handler, once, at start. */
import { readFileSync } from "node:fs";
import { BUNDLE_FILES } from "../domain/function-environment.ts";
import { type Policy, policySchema } from "../domain/policy.ts";

export interface BundledFiles {
  readonly policy: Policy;
  /** PEM certificates of the API's authority. */
  readonly apiCa: string;
}

/** @param handler URL of the handler's own module. @throws where a file is missing, or the policy is wrong. */
export function readBundle(handler: string): BundledFiles {
  const read = (name: string) => readFileSync(new URL(name, handler), "utf8");
  return { policy: policySchema.parse(JSON.parse(read(BUNDLE_FILES.policy))), apiCa: read(BUNDLE_FILES.apiCa) };
}
