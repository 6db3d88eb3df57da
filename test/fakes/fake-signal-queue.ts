/** The port `SignalQueue` in memory: what was put off, and what was set aside. */
import type { QueuedMessage, SignalQueue } from "../../shared/ports/signal-queue.ts";

export class FakeSignalQueue implements SignalQueue {
  /** Seconds after which each message comes back, by its id: the last word counts. */
  readonly postponed = new Map<string, number>();
  readonly deadLetters: { readonly messageId: string; readonly body: string; readonly reason: string }[] = [];
  readonly #known: ReadonlySet<string> | undefined;
  #refusal: string | undefined;

  /** @param inFlight receipt handles that the queue knows; by default it knows all. */
  constructor(inFlight?: ReadonlySet<string>) {
    this.#known = inFlight;
  }

  /** From now on everything fails with this reason; undefined lets it through again. */
  refuse(reason: string | undefined): void {
    this.#refusal = reason;
  }

  async postpone(
    messages: readonly { readonly message: QueuedMessage; readonly afterSeconds: number }[],
  ): Promise<{ readonly failed: readonly string[] }> {
    if (this.#refusal !== undefined) throw new Error(`postponing messages: ${this.#refusal}`);
    const failed: string[] = [];
    for (const { message, afterSeconds } of messages) {
      if (this.#known?.has(message.receiptHandle) ?? true) this.postponed.set(message.messageId, afterSeconds);
      else failed.push(message.messageId);
    }
    return { failed };
  }

  async setAside({ messageId, body }: QueuedMessage, reason: string): Promise<void> {
    if (this.#refusal !== undefined) throw new Error(`setting aside message ${messageId}: ${this.#refusal}`);
    this.deadLetters.push({ messageId, body, reason });
  }
}
