/** What SQS would refuse and its stand-in takes: the reason of a dead letter. */
import { SendMessageCommand, SQSClient } from "@aws-sdk/client-sqs";
import { expect, test } from "vitest";
import { sqsSignalQueue } from "../../../shared/adapters/sqs-signal-queue.ts";

const MESSAGE = { messageId: "1", receiptHandle: "r", body: "{}" };

/** Gives the reason that would have been sent. */
async function reasonSent(reason: string): Promise<string | undefined> {
  const client = new SQSClient({ region: "eu-west-1", credentials: { accessKeyId: "a", secretAccessKey: "s" } });
  let sent: string | undefined;
  client.middlewareStack.add(
    () =>
      async ({ input }) => {
        const command = new SendMessageCommand(Object.assign({ QueueUrl: "", MessageBody: "" }, input));
        sent = command.input.MessageAttributes?.reason?.StringValue;
        return { output: { $metadata: {} }, response: undefined };
      },
    { step: "initialize" },
  );
  const queues = { queueUrl: "https://sqs.invalid/q", deadLetterQueueUrl: "https://sqs.invalid/d" };
  await sqsSignalQueue({ client, ...queues }).setAside(MESSAGE, reason);
  return sent;
}

test("characters that SQS refuses are left out of a reason", async () => {
  expect(await reasonSent("line\nbell\u0007 null\u0000 end 😀\uFFFE")).toBe("line\nbell  null  end 😀 ");
});

test("a reason is cut", async () => {
  expect(await reasonSent("x".repeat(5_000))).toHaveLength(1_000);
  expect(await reasonSent(`${"x".repeat(999)}😀`)).toBe(`${"x".repeat(999)} `);
});

test("an empty reason is none", async () => {
  expect(await reasonSent("")).toBe("none given");
});
