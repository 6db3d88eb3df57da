/** The contract of the port `SignalQueue` on the fake. */
import { describe } from "vitest";
import { FakeSignalQueue } from "../../fakes/fake-signal-queue.ts";
import { signalQueueContract } from "./signal-queue-contract.ts";

describe("the fake of a queue", () => {
  signalQueueContract(async () => {
    const inFlight = new Set<string>();
    const queue = new FakeSignalQueue(inFlight);
    const broken = new FakeSignalQueue();
    broken.refuse("out of reach");
    return {
      queue,
      broken,
      async receive(bodies) {
        return bodies.map((body) => {
          const number = inFlight.size + 1;
          inFlight.add(`receipt-${number}`);
          return { messageId: `message-${number}`, receiptHandle: `receipt-${number}`, body };
        });
      },
      secondsUntilBack: async (messages) => messages.map(({ messageId }) => queue.postponed.get(messageId) ?? 60),
      deadLetters: async () => queue.deadLetters,
      async [Symbol.asyncDispose]() {},
    };
  });
});
