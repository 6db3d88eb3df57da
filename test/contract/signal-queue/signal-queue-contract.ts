/** The contract of the port `SignalQueue`: one suite for the fake and for a queue that speaks SQS's language. */
import { afterAll, beforeAll, expect, test } from "vitest";
import type { QueuedMessage, SignalQueue } from "../../../shared/ports/signal-queue.ts";

export interface QueueWorld extends AsyncDisposable {
  readonly queue: SignalQueue;
  /** The same port where the dead letters are out of reach. */
  readonly broken: SignalQueue;
  /** Messages as a function got them: hidden from others for a minute. */
  receive(bodies: readonly string[]): Promise<readonly QueuedMessage[]>;
  /** Seconds from now until each of them can be received again, in their order. */
  secondsUntilBack(messages: readonly QueuedMessage[]): Promise<readonly number[]>;
  deadLetters(): Promise<readonly DeadLetter[]>;
}

export interface DeadLetter {
  readonly body: string;
  readonly reason: string;
  readonly messageId: string;
}

/** More than one call takes. */
const MANY = 12;

export function signalQueueContract(openWorld: () => Promise<QueueWorld>): void {
  let opened: QueueWorld | undefined;
  const world = () => {
    if (opened === undefined) throw new Error("using the world: not opened");
    return opened;
  };
  beforeAll(async () => {
    opened = await openWorld();
  });
  afterAll(() => opened?.[Symbol.asyncDispose]());

  test("a postponed message comes back after its seconds", async () => {
    const messages = await world().receive(["soon", "later"]);
    const postponed = messages.map((message, place) => ({ message, afterSeconds: place === 0 ? 1 : 3 }));
    expect(await world().queue.postpone(postponed)).toEqual({ failed: [] });
    const [soon = 0, later = 0] = await world().secondsUntilBack(messages);
    expect(soon).toBeGreaterThan(0.5);
    expect(soon).toBeLessThan(2.5);
    expect(later).toBeGreaterThan(2.5);
    expect(later).toBeLessThan(5);
  });

  test("more messages than one call takes are all postponed", async () => {
    const messages = await world().receive(Array.from({ length: MANY }, (_, n) => `message ${n}`));
    const postponed = messages.map((message) => ({ message, afterSeconds: 1 }));
    expect(await world().queue.postpone(postponed)).toEqual({ failed: [] });
    for (const seconds of await world().secondsUntilBack(messages)) expect(seconds).toBeLessThan(3);
  });

  test("a message that the queue doesn't know is named, and the others are postponed", async () => {
    const [known] = await world().receive(["known"]);
    if (known === undefined) throw new Error("receiving: nothing came");
    const unknown = { messageId: "unknown", receiptHandle: "not a receipt", body: "" };
    const { failed } = await world().queue.postpone([
      { message: unknown, afterSeconds: 1 },
      { message: known, afterSeconds: 1 },
    ]);
    expect(failed).toEqual(["unknown"]);
    const [seconds] = await world().secondsUntilBack([known]);
    expect(seconds).toBeLessThan(3);
  });

  test("a message that is set aside keeps its body and id, and says why", async () => {
    const [message] = await world().receive(['{"not":"a signal"}']);
    if (message === undefined) throw new Error("receiving: nothing came");
    await world().queue.setAside(message, "it is no signal that we know");
    expect(await world().deadLetters()).toContainEqual({
      body: message.body,
      messageId: message.messageId,
      reason: "it is no signal that we know",
    });
  });

  test("a message that couldn't be set aside is an error", async () => {
    const [message] = await world().receive(["unreadable"]);
    if (message === undefined) throw new Error("receiving: nothing came");
    await expect(world().broken.setAside(message, "any")).rejects.toThrow(`setting aside message ${message.messageId}`);
  });
}
