/** One message is one loop: how a batch is settled, whatever its messages come to. */
import type { SQSRecord } from "aws-lambda";
import { describe, expect, it } from "vitest";
import { again, deadLetter, done, type Outcome } from "../../../shared/domain/outcome.ts";
import { type BatchLoop, handleBatch } from "../../../shared/lambda/handle-batch.ts";
import type { QueuedMessage, SignalQueue } from "../../../shared/ports/signal-queue.ts";

function aRecord(messageId: string, body = messageId): SQSRecord {
  return {
    messageId,
    body,
    receiptHandle: `receipt-${messageId}`,
    attributes: {
      ApproximateReceiveCount: "1",
      SentTimestamp: "0",
      SenderId: "s",
      ApproximateFirstReceiveTimestamp: "0",
    },
    messageAttributes: {},
    md5OfBody: "",
    eventSource: "aws:sqs",
    eventSourceARN: "arn",
    awsRegion: "eu-west-1",
  };
}

/** A queue that remembers, and refuses what it is told to. */
function aQueue(refuses: { postpone?: readonly string[]; setAside?: readonly string[]; everything?: boolean } = {}) {
  const postponed: [string, number][] = [];
  const setAside: [string, string][] = [];
  const queue: SignalQueue = {
    async postpone(messages) {
      if (refuses.everything) throw new Error("queue is away");
      postponed.push(
        ...messages.map(({ message, afterSeconds }): [string, number] => [message.messageId, afterSeconds]),
      );
      return {
        failed: messages.map(({ message }) => message.messageId).filter((id) => refuses.postpone?.includes(id)),
      };
    },
    async setAside(message, reason) {
      if (refuses.everything || refuses.setAside?.includes(message.messageId)) throw new Error("queue is away");
      setAside.push([message.messageId, reason]);
    },
  };
  return { queue, postponed, setAside };
}

/** Runs a batch in which each body names its outcome. */
async function run(
  outcomes: Record<string, Outcome | "unreadable">,
  given: Partial<BatchLoop<string>> = {},
  queue = aQueue(),
) {
  const unsettled: [readonly string[], string][] = [];
  const stepped: string[] = [];
  let steps = 0;
  const response = await handleBatch(
    Object.keys(outcomes).map((id) => aRecord(id)),
    {
      read: ({ body }) =>
        outcomes[body] === "unreadable"
          ? { kind: "settled", outcome: deadLetter("unreadable") }
          : { kind: "signal", signal: body },
      step: async (signals) => {
        stepped.push(...signals);
        steps++;
        return signals.map((signal) => {
          const outcome = outcomes[signal];
          return outcome === undefined || outcome === "unreadable" ? done("never") : outcome;
        });
      },
      queue: queue.queue,
      onUnsettled: (messages: readonly QueuedMessage[], error) =>
        unsettled.push([messages.map(({ messageId }) => messageId), String(error)]),
      ...given,
    },
  );
  return {
    kept: response.batchItemFailures.map(({ itemIdentifier }) => itemIdentifier).toSorted(),
    unsettled,
    stepped,
    steps,
    ...queue,
  };
}

describe("settling a batch", () => {
  it("done is acknowledged, again comes back in its time, a dead letter is stored with its reason", async () => {
    const ran = await run({ a: done("x"), b: again(3, "x"), c: deadLetter("broken"), d: again(60, "x") });
    expect(ran.kept).toEqual(["b", "d"]);
    expect(ran.postponed).toEqual([
      ["b", 3],
      ["d", 60],
    ]);
    expect(ran.setAside).toEqual([["c", "broken"]]);
    expect(ran.unsettled).toEqual([]);
  });

  it("case 1: one unreadable message doesn't hold up the good ones", async () => {
    const ran = await run({ a: done("x"), bad: "unreadable", b: done("x") });
    expect(ran.stepped).toEqual(["a", "b"]);
    expect(ran.setAside).toEqual([["bad", "unreadable"]]);
    expect(ran.kept).toEqual([]);
  });

  it("case 3: of a batch of two only the one that failed comes back", async () => {
    expect((await run({ good: done("x"), bad: again(1, "reset") })).kept).toEqual(["bad"]);
  });

  it("a batch without a signal asks for no step", async () => {
    const ran = await run({ bad: "unreadable" });
    expect(ran.steps).toBe(0);
    expect(ran.kept).toEqual([]);
  });
});

describe("nothing is lost", () => {
  it("a message whose visibility couldn't be changed stays in the queue, and that is said", async () => {
    const ran = await run({ a: again(3, "x"), b: again(3, "x") }, {}, aQueue({ postpone: ["b"] }));
    expect(ran.kept).toEqual(["a", "b"]);
    expect(ran.unsettled).toEqual([[["b"], expect.stringContaining("visibility")]]);
  });

  it("a dead letter that couldn't be stored is not acknowledged", async () => {
    const ran = await run({ a: deadLetter("x"), b: deadLetter("x") }, {}, aQueue({ setAside: ["b"] }));
    expect(ran.kept).toEqual(["b"]);
    expect(ran.unsettled).toEqual([[["b"], expect.stringContaining("away")]]);
  });

  it("with the queue away everything unfinished comes back by itself", async () => {
    const ran = await run({ a: done("x"), b: again(3, "x"), c: deadLetter("x") }, {}, aQueue({ everything: true }));
    expect(ran.kept).toEqual(["b", "c"]);
  });

  it("a step that throws leaves all its messages in the queue, and still sets the unreadable one aside", async () => {
    const ran = await run({ a: done("x"), bad: "unreadable" }, { step: async () => Promise.reject(new Error("bug")) });
    expect(ran.kept).toEqual(["a"]);
    expect(ran.setAside).toEqual([["bad", "unreadable"]]);
    expect(ran.unsettled).toEqual([[["a"], "Error: bug"]]);
  });

  it("a step that forgets a signal doesn't acknowledge it", async () => {
    expect((await run({ a: done("x"), b: done("x") }, { step: async () => [done("x")] })).kept).toEqual(["b"]);
  });
});
