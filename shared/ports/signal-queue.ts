/** What a batch asks of the queue that its messages came from. */

export interface QueuedMessage {
  readonly messageId: string;
  readonly receiptHandle: string;
  readonly body: string;
}

export interface SignalQueue {
  /**
   * Makes messages come back after so many seconds (1..900), in one call per ten.
   * Gives the ids of those for which it didn't work; they come back by the queue's own visibility timeout.
   */
  postpone(
    messages: readonly { readonly message: QueuedMessage; readonly afterSeconds: number }[],
  ): Promise<{ readonly failed: readonly string[] }>;
  /**
   * Copies a message to the dead letters with the reason as a message attribute.
   * @throws if it wasn't stored; the message must then not be acknowledged.
   */
  setAside(message: QueuedMessage, reason: string): Promise<void>;
}
