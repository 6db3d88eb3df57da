/** What every function is told by the stack: who it is, and how it reaches the Kubernetes API. */
import * as z from "zod";
import type { FunctionName } from "./identity.ts";

/** The part of a function's environment that all have. `names`: those of the functions made from its bundle. */
export function functionEnvironment<const Names extends readonly [FunctionName, ...FunctionName[]]>(names: Names) {
  return {
    /** Which of the functions made from this bundle this is. */
    FUNCTION: z.enum(names),
    CLUSTER_NAME: z.string().min(1),
    /** Set by Lambda. */
    AWS_REGION: z.string().min(1),
    /** Base URL of the relay, or of the cluster's own endpoint. */
    API_URL: z.url({ protocol: /^https$/ }),
    /** What a token is good for: the relay's audience, or the cluster's name towards an EKS endpoint. */
    TOKEN_AUDIENCE: z.string().min(1),
  };
}

/** Files beside the handler in a bundle, written at synth. */
export const BUNDLE_FILES = { policy: "policy.json", apiCa: "api-ca.pem" } as const;
