/** The port `SignalQueue` on SQS: messages come back by their visibility, or go to the dead letters with a reason. */
import { ChangeMessageVisibilityBatchCommand, SendMessageCommand, type SQSClient } from "@aws-sdk/client-sqs";
import type { SignalQueue } from "../ports/signal-queue.ts";

/** Entries that SQS takes in one call. */
const BATCH_SIZE = 10;
const MAX_REASON = 1_000;
/** SQS refuses other control characters, in attributes too. */
const NOT_ALLOWED = /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu;

type Postponement = Parameters<SignalQueue["postpone"]>[0][number];

export interface SqsSettings {
  readonly client: SQSClient;
  readonly queueUrl: string;
  readonly deadLetterQueueUrl: string;
}

export function sqsSignalQueue({ client, queueUrl, deadLetterQueueUrl }: SqsSettings): SignalQueue {
  return {
    async postpone(messages) {
      const tens = [];
      for (let at = 0; at < messages.length; at += BATCH_SIZE) tens.push(messages.slice(at, at + BATCH_SIZE));
      const failed = await Promise.all(tens.map(postponeTen));
      return { failed: failed.flat() };
    },

    async setAside({ body, messageId }, reason) {
      const attribute = (StringValue: string) => ({ DataType: "String", StringValue });
      try {
        await client.send(
          new SendMessageCommand({
            QueueUrl: deadLetterQueueUrl,
            MessageBody: body,
            MessageAttributes: { reason: attribute(toAttribute(reason)), originalMessageId: attribute(messageId) },
          }),
        );
      } catch (cause) {
        throw new Error(`setting aside message ${messageId}`, { cause });
      }
    },
  };

  /** Gives the ids of those that didn't work. */
  async function postponeTen(ten: readonly Postponement[]): Promise<readonly string[]> {
    // Within a call entries are told apart by their place: a message id isn't promised to fit an entry's.
    const Entries = ten.map(({ message, afterSeconds }, place) => ({
      Id: String(place),
      ReceiptHandle: message.receiptHandle,
      VisibilityTimeout: afterSeconds,
    }));
    try {
      const answer = await client.send(new ChangeMessageVisibilityBatchCommand({ QueueUrl: queueUrl, Entries }));
      const succeeded = new Set(answer.Successful?.map(({ Id }) => Id));
      return ten.filter((_, place) => !succeeded.has(String(place))).map(({ message }) => message.messageId);
    } catch (cause) {
      throw new Error("postponing messages", { cause });
    }
  }
}

/** An attribute must not be empty. */
function toAttribute(reason: string): string {
  return reason.slice(0, MAX_REASON).replaceAll(NOT_ALLOWED, " ") || "none given";
}
