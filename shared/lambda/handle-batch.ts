/**
 * The loop around every queue-fed function: read all messages, step all together, settle each as its outcome says.
 * One message is one loop: `again` changes that message's own visibility, so nothing is ever copied to the queue.
 */
import type { SQSBatchResponse, SQSRecord } from "aws-lambda";
import type { Outcome } from "../domain/outcome.ts";
import type { QueuedMessage, SignalQueue } from "../ports/signal-queue.ts";

/** A message that is settled at the door, or the signal in it. */
export type Reading<S> =
  | { readonly kind: "signal"; readonly signal: S }
  | { readonly kind: "settled"; readonly outcome: Outcome };

export interface BatchLoop<S> {
  read(record: SQSRecord): Reading<S>;
  /** An outcome for each signal, in their order. */
  step(signals: readonly S[]): Promise<readonly Outcome[]>;
  readonly queue: SignalQueue;
  /** Messages that couldn't be settled come back by the visibility timeout; the reason must not be lost. */
  onUnsettled(messages: readonly QueuedMessage[], error: unknown): void;
}

interface Settling {
  readonly message: QueuedMessage;
  /** Undefined where the step came to none: the message comes back by its visibility timeout. */
  readonly outcome: Outcome | undefined;
}

export async function handleBatch<S>(records: readonly SQSRecord[], loop: BatchLoop<S>): Promise<SQSBatchResponse> {
  const settlings = await outcomesOf(records, loop);
  const kept = settlings.filter(({ outcome }) => outcome === undefined || outcome.kind === "again");
  const [, unstored] = await Promise.all([postpone(kept, loop), setAside(settlings, loop)]);
  const stay = [...kept.map(({ message }) => message), ...unstored];
  return { batchItemFailures: stay.map(({ messageId }) => ({ itemIdentifier: messageId })) };
}

async function outcomesOf<S>(records: readonly SQSRecord[], loop: BatchLoop<S>): Promise<readonly Settling[]> {
  const readings = records.map((message) => ({ message, reading: loop.read(message) }));
  const open = readings.flatMap(({ message, reading }) => (reading.kind === "signal" ? [{ message, ...reading }] : []));
  const signals = open.map(({ signal }) => signal);
  const outcomes = await (signals.length > 0 ? loop.step(signals) : Promise.resolve([])).catch((error: unknown) => {
    const messages = open.map(({ message }) => message);
    loop.onUnsettled(messages, error);
    return [];
  });
  const stepped = open.map(({ message }, index) => ({ message, outcome: outcomes[index] }));
  return [
    ...readings.flatMap(({ message, reading }) => (reading.kind === "settled" ? [{ message, ...reading }] : [])),
    ...stepped,
  ];
}

async function postpone<S>(kept: readonly Settling[], loop: BatchLoop<S>): Promise<void> {
  const postponed = kept.flatMap(({ message, outcome }) =>
    outcome?.kind === "again" ? [{ message, afterSeconds: outcome.afterSeconds }] : [],
  );
  if (postponed.length === 0) return;
  const messages = postponed.map(({ message }) => message);
  try {
    const { failed } = await loop.queue.postpone(postponed);
    const unchanged = messages.filter(({ messageId }) => failed.includes(messageId));
    if (unchanged.length > 0) loop.onUnsettled(unchanged, new Error("changing the visibility of messages"));
  } catch (error) {
    loop.onUnsettled(messages, error);
  }
}

/** Gives the messages that couldn't be stored as dead letters: they must not be acknowledged. */
async function setAside<S>(settlings: readonly Settling[], loop: BatchLoop<S>): Promise<readonly QueuedMessage[]> {
  const attempts = settlings.map(async ({ message, outcome }) => {
    if (outcome?.kind !== "dead-letter") return [];
    try {
      await loop.queue.setAside(message, outcome.because);
      return [];
    } catch (error) {
      loop.onUnsettled([message], error);
      return [message];
    }
  });
  return (await Promise.all(attempts)).flat();
}
