/** Queues: who gets in, what becomes of what can't be handled, and how they agree with the functions behind them. */
import { afterAll, describe, expect, test } from "vitest";
import * as z from "zod";
import { deniesSending, queueStatements, statementsOf } from "./policies.ts";
import { type Resource, SMALLEST_CONFIG, synthesizeConfig } from "./synthesized.ts";

const ON_CALL = "arn:aws:iam::111122223333:role/on-call";
const stack = synthesizeConfig({ ...SMALLEST_CONFIG, replayRoleArns: [ON_CALL] });
afterAll(() => stack[Symbol.dispose]());

const redriveSchema = z.object({ deadLetterTargetArn: z.string(), maxReceiveCount: z.number() }).optional();
const redriveOf = (queue: Resource) => redriveSchema.parse(queue.properties.RedrivePolicy);

const queues = stack.of("AWS::SQS::Queue");
const deadLetterArns = new Set(queues.map((queue) => redriveOf(queue)?.deadLetterTargetArn));
const workQueues = queues.filter((queue) => redriveOf(queue) !== undefined);
const deadLetterQueues = queues.filter((queue) => deadLetterArns.has(`${queue.id}.Arn`));
const mappings = z
  .array(z.object({ EventSourceArn: z.string(), FunctionName: z.string() }))
  .parse(stack.of("AWS::Lambda::EventSourceMapping").map((one) => one.properties));
const functions = stack.of("AWS::Lambda::Function");
const roleArnOf = (functionId: string) => String(functions.find((one) => one.id === functionId)?.properties.Role);
const ruleArns = stack.of("AWS::Events::Rule").map((rule) => `${rule.id}.Arn`);
const replayRole = stack.of("AWS::IAM::Role").find((role) => role.properties.RoleName === "nodekeeper-blue-replay");

describe("every queue", () => {
  test("has dead letters, or holds them", () => {
    expect(workQueues).toHaveLength(1);
    expect(queues.map((one) => one.id).sort()).toEqual(
      [...workQueues, ...deadLetterQueues].map((one) => one.id).sort(),
    );
  });

  test("keeps dead letters for two weeks, the longest there is", () => {
    for (const queue of deadLetterQueues) expect(queue.properties.MessageRetentionPeriod).toBe(14 * 24 * 3600);
  });

  test("lets a message come back a thousand times before it is given up", () => {
    for (const queue of workQueues) expect(redriveOf(queue)?.maxReceiveCount).toBe(1000);
  });

  test("is encrypted, and refuses plain http", () => {
    for (const queue of queues) {
      expect(queue.properties.SqsManagedSseEnabled).toBe(true);
      expect(queueStatements(queue, stack)).toContainEqual(
        expect.objectContaining({
          Effect: "Deny",
          Action: ["sqs:*"],
          Principal: { AWS: "*" },
          Condition: { Bool: { "aws:SecureTransport": ["false"] } },
        }),
      );
    }
  });

  test("gives a killed function's message back soon, but never before the function's time is over", () => {
    for (const mapping of mappings) {
      const lambda = functions.find((one) => one.id === mapping.FunctionName);
      const queue = queues.find((one) => `${one.id}.Arn` === mapping.EventSourceArn);
      const timeout = z.number().parse(lambda?.properties.Timeout);
      const visibility = z.number().parse(queue?.properties.VisibilityTimeout);
      expect(visibility).toBeGreaterThanOrEqual(timeout + 2);
      expect(visibility).toBeLessThanOrEqual(timeout * 1.5);
    }
  });
});

describe("the door of a work queue", () => {
  const workQueue = workQueues[0];
  if (!workQueue || !replayRole) throw new Error("no work queue, or no replay role");
  const denies = (sender: Parameters<typeof deniesSending>[1]) =>
    deniesSending(queueStatements(workQueue, stack), sender);

  test("lets in each of our rules", () => {
    expect(ruleArns.length).toBeGreaterThan(0);
    for (const sourceArn of ruleArns) expect(denies({ sourceArn })).toBe(false);
  });

  test("lets in the replay role and the roles of the configuration", () => {
    expect(denies({ principalArn: `${replayRole.id}.Arn` })).toBe(false);
    expect(denies({ principalArn: ON_CALL })).toBe(false);
  });

  test.each([
    ["somebody else's rule", { sourceArn: "arn:aws:events:eu-west-1:111122223333:rule/other" }],
    ["an administrator", { principalArn: "arn:aws:iam::111122223333:role/admin" }],
    ["a sender that shows neither", {}],
    ["another role behind somebody else's rule", { sourceArn: "arn:x", principalArn: "arn:y" }],
  ])("shuts out %s", (_, sender) => {
    expect(denies(sender)).toBe(true);
  });

  test("shuts out the function that works it off: a loop is one message, never a chain of copies", () => {
    for (const mapping of mappings) {
      const principalArn = roleArnOf(mapping.FunctionName);
      expect(denies({ principalArn })).toBe(true);
      const role = stack.of("AWS::IAM::Role").find((one) => `${one.id}.Arn` === principalArn);
      if (!role) throw new Error("a function without a role");
      const sends = statementsOf(role, stack).filter(
        (one) => one.Effect === "Allow" && one.Action.some((action) => /^(\*|sqs:(\*|Send.*))$/.test(action)),
      );
      expect(sends.map((one) => one.Resource)).toEqual([deadLetterQueues.map((one) => `${one.id}.Arn`)]);
    }
  });
});

describe("the door of the dead letters", () => {
  const [deadLetters] = deadLetterQueues;
  if (!deadLetters || !replayRole) throw new Error("no dead letters, or no replay role");
  const denies = (sender: Parameters<typeof deniesSending>[1]) =>
    deniesSending(queueStatements(deadLetters, stack), sender);

  test("lets in the rules, for what can't be delivered, and the function, for what can't be read", () => {
    for (const sourceArn of ruleArns) expect(denies({ sourceArn })).toBe(false);
    for (const { FunctionName } of mappings) expect(denies({ principalArn: roleArnOf(FunctionName) })).toBe(false);
  });

  test("shuts out everybody else, the replay role included", () => {
    expect(denies({ principalArn: "arn:aws:iam::111122223333:role/admin" })).toBe(true);
    expect(denies({ principalArn: `${replayRole.id}.Arn` })).toBe(true);
    expect(denies({})).toBe(true);
  });
});

test("the replay role may put messages into the work queues and nothing else", () => {
  if (!replayRole) throw new Error("no replay role");
  const statements = statementsOf(replayRole, stack);
  expect(statements).toHaveLength(1);
  expect(statements[0]).toMatchObject({
    Effect: "Allow",
    Action: ["sqs:SendMessage"],
    Resource: workQueues.map((queue) => `${queue.id}.Arn`),
  });
});
