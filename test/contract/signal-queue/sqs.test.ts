/** The contract of the port `SignalQueue` on the adapter, against a queue that speaks SQS's language. */
import { setTimeout as sleep } from "node:timers/promises";
import {
  CreateQueueCommand,
  type Message,
  ReceiveMessageCommand,
  SendMessageCommand,
  SQSClient,
} from "@aws-sdk/client-sqs";
import { sqsSignalQueue } from "../../../shared/adapters/sqs-signal-queue.ts";
import type { QueuedMessage } from "../../../shared/ports/signal-queue.ts";
import { startEmulator } from "../../rig/emulator.ts";
import { describeReal } from "../../rig/real-parts.ts";
import { type QueueWorld, signalQueueContract } from "./signal-queue-contract.ts";

const HIDDEN_SECONDS = 60;
const PATIENCE_MS = 10_000;

describeReal("queues of SQS", ["emulator"], () => {
  signalQueueContract(openWorld);
});

async function openWorld(): Promise<QueueWorld> {
  const emulator = await startEmulator();
  const client = new SQSClient(emulator.clientConfig);
  const createQueue = async (QueueName: string) =>
    (await client.send(new CreateQueueCommand({ QueueName }))).QueueUrl ?? "";
  const [queueUrl, deadLetterQueueUrl] = [await createQueue("signals"), await createQueue("dead-letters")];

  async function receiveBatch(QueueUrl: string): Promise<readonly Message[]> {
    const question = { QueueUrl, MaxNumberOfMessages: 10, VisibilityTimeout: HIDDEN_SECONDS };
    const answer = await client.send(new ReceiveMessageCommand({ ...question, MessageAttributeNames: ["All"] }));
    return answer.Messages ?? [];
  }

  return {
    queue: sqsSignalQueue({ client, queueUrl, deadLetterQueueUrl }),
    broken: sqsSignalQueue({ client, queueUrl, deadLetterQueueUrl: `${deadLetterQueueUrl}-that-never-was` }),
    async receive(bodies) {
      for (const MessageBody of bodies) await client.send(new SendMessageCommand({ QueueUrl: queueUrl, MessageBody }));
      const received: QueuedMessage[] = [];
      while (received.length < bodies.length) received.push(...(await receiveBatch(queueUrl)).map(toQueued));
      return bodies.flatMap((body) => received.find((message) => message.body === body) ?? []);
    },
    async secondsUntilBack(messages) {
      const start = performance.now();
      const back = new Map<string, number>();
      while (back.size < messages.length && performance.now() - start < PATIENCE_MS) {
        for (const { MessageId = "" } of await receiveBatch(queueUrl)) back.set(MessageId, performance.now() - start);
        await sleep(50);
      }
      return messages.map(({ messageId }) => (back.get(messageId) ?? Number.NaN) / 1000);
    },
    async deadLetters() {
      const letters = await receiveBatch(deadLetterQueueUrl);
      return letters.map(({ Body = "", MessageAttributes = {} }) => ({
        body: Body,
        reason: MessageAttributes.reason?.StringValue ?? "",
        messageId: MessageAttributes.originalMessageId?.StringValue ?? "",
      }));
    },
    async [Symbol.asyncDispose]() {
      client.destroy();
      await emulator.stop();
    },
  };
}

function toQueued({ MessageId = "", ReceiptHandle = "", Body = "" }: Message): QueuedMessage {
  return { messageId: MessageId, receiptHandle: ReceiptHandle, body: Body };
}
