/**
 * A signal: something happens, or is about to happen, to an instance. Events are translated into this word at the
 * door (events/); nothing behind it knows AWS's field names.
 */

/** EC2 takes a spot instance back. */
export interface SpotInterruption {
  readonly kind: "spot-interruption";
  /** Id of the cloud event: the same event delivered twice has the same id. */
  readonly id: string;
  readonly instanceId: string;
  /** The event's own time, from which every latency is measured. */
  readonly at: Date;
  readonly action: "terminate" | "stop" | "hibernate";
  /** When the queue first gave it out, where that is known: late signals are tried for a while too. */
  readonly receivedAt?: Date;
  /** When EC2 acts: two minutes after the notice, or at once for hibernation, which has begun by then. */
  readonly deadline: Date;
}

export type Signal = SpotInterruption;

/** Names a signal in annotations, Events and logs. */
export function signalName(signal: Pick<Signal, "kind" | "id">): string {
  return `${signal.kind}/${signal.id}`;
}
