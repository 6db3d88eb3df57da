/** IAM policies in a template, read so that a test can ask what they allow. */
import * as z from "zod";
import type { Resource, Synthesized } from "./synthesized.ts";

const oneOrMore = z.union([z.string().transform((one) => [one]), z.array(z.string())]);

const statementSchema = z.object({
  Sid: z.string().optional(),
  Effect: z.enum(["Allow", "Deny"]),
  Action: oneOrMore,
  Resource: oneOrMore,
  Principal: z.unknown().optional(),
  Condition: z.record(z.string(), z.record(z.string(), oneOrMore)).default({}),
});
export type Statement = z.infer<typeof statementSchema>;

const documentSchema = z.object({ Statement: z.array(statementSchema) });

/** Everything that a role may or may not do: its inline policies, and policies attached to it elsewhere. */
export function statementsOf(role: Resource, synthesized: Synthesized): readonly Statement[] {
  const inline = z.array(z.object({ PolicyDocument: documentSchema })).parse(role.properties.Policies ?? []);
  const attached = synthesized
    .of("AWS::IAM::Policy")
    .filter((policy) => oneOrMore.parse(policy.properties.Roles).includes(role.id))
    .map((policy) => z.object({ PolicyDocument: documentSchema }).parse(policy.properties));
  return [...inline, ...attached].flatMap((policy) => policy.PolicyDocument.Statement);
}

/** The policy on a queue. */
export function queueStatements(queue: Resource, synthesized: Synthesized): readonly Statement[] {
  return synthesized
    .of("AWS::SQS::QueuePolicy")
    .filter((policy) => oneOrMore.parse(policy.properties.Queues).includes(queue.id))
    .flatMap((policy) => documentSchema.parse(policy.properties.PolicyDocument).Statement);
}

/** Who asks: EventBridge comes with the rule's ARN, a person or a function with the role's. */
export interface Sender {
  readonly sourceArn?: string;
  readonly principalArn?: string;
}

/** Whether a Deny statement with ArnNotEqualsIfExists hits the sender: all keys of a condition must hold at once. */
export function deniesSending(statements: readonly Statement[], sender: Sender): boolean {
  return statements
    .filter((one) => one.Effect === "Deny" && one.Action.includes("sqs:SendMessage"))
    .some((one) =>
      Object.entries(one.Condition).every(
        ([operator, keys]) =>
          operator === "ArnNotEqualsIfExists" &&
          Object.entries(keys).every(([key, allowed]) => isNoneOf(carried(sender, key), allowed)),
      ),
    );
}

/** `IfExists`: a key that the request doesn't carry counts as holding. */
function isNoneOf(value: string | undefined, allowed: readonly string[]): boolean {
  return value === undefined || !allowed.includes(value);
}

function carried(sender: Sender, key: string): string | undefined {
  if (key === "aws:SourceArn") return sender.sourceArn;
  if (key === "aws:PrincipalArn") return sender.principalArn;
  throw new Error(`reading a condition: unknown key ${key}`);
}
