/** The environment of drain-node. The stack sets exactly these names, the handler reads them once, at start. */
import * as z from "zod";
import { functionEnvironment } from "../../shared/domain/function-environment.ts";
import { DRAIN_FUNCTION_NAMES } from "../../shared/domain/identity.ts";

export const environmentSchema = z.object({
  ...functionEnvironment(DRAIN_FUNCTION_NAMES),
  /** Account of the cluster: signals of another one are acknowledged and counted, never acted on. */
  ACCOUNT_ID: z.string().regex(/^\d{12}$/),
  QUEUE_URL: z.url(),
  DEAD_LETTER_QUEUE_URL: z.url(),
});

export type Environment = z.infer<typeof environmentSchema>;
/** Names that a stack must set; Lambda sets the others itself. */
export type DeployedEnvironment = Record<Exclude<keyof Environment, "AWS_REGION">, string>;
