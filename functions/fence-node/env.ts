/** The environment of fence-node. The stack sets exactly these names, the handler reads them once, at start. */
import * as z from "zod";
import { functionEnvironment } from "../../shared/domain/function-environment.ts";

export const environmentSchema = z.object(functionEnvironment(["fence-node"]));

export type Environment = z.infer<typeof environmentSchema>;
/** Names that a stack must set; Lambda sets the others itself. */
export type DeployedEnvironment = Record<Exclude<keyof Environment, "AWS_REGION">, string>;
