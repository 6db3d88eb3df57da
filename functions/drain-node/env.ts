/** The environment of drain-node. The stack sets exactly these names, the handler reads them once, at start. */
import * as z from "zod";
import { DRAIN_FUNCTION_NAMES } from "../../shared/domain/identity.ts";

export const environmentSchema = z.object({
  /** Which of the functions made from this bundle this is. */
  FUNCTION: z.enum(DRAIN_FUNCTION_NAMES),
  CLUSTER_NAME: z.string().min(1),
  /** Account of the cluster: signals of another one are acknowledged and counted, never acted on. */
  ACCOUNT_ID: z.string().regex(/^\d{12}$/),
  /** Set by Lambda. */
  AWS_REGION: z.string().min(1),
  /** Base URL of the relay, or of the cluster's own endpoint. */
  API_URL: z.url({ protocol: /^https$/ }),
  /** What a token is good for: the relay's audience, or the cluster's name towards an EKS endpoint. */
  TOKEN_AUDIENCE: z.string().min(1),
  QUEUE_URL: z.url(),
  DEAD_LETTER_QUEUE_URL: z.url(),
});

export type Environment = z.infer<typeof environmentSchema>;
/** Names that a stack must set; Lambda sets the others itself. */
export type DeployedEnvironment = Record<Exclude<keyof Environment, "AWS_REGION">, string>;

/** Files beside the handler in the bundle, written at synth. */
export const BUNDLE_FILES = { policy: "policy.json", apiCa: "api-ca.pem" } as const;
