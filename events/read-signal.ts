/** From the text of a message to a signal, or to the reason why there is none. The only door for cloud events. */
import { parseJson } from "../shared/domain/parse-json.ts";
import type { Signal } from "../shared/domain/signal.ts";
import { type EventDefinition, envelopeSchema, oneLine } from "./define-event.ts";

export interface Home {
  readonly account: string;
  readonly region: string;
}

export type SignalReading =
  | { readonly kind: "signal"; readonly signal: Signal }
  /** Well formed, but not for us: acknowledged and counted. */
  | { readonly kind: "not-ours"; readonly because: string }
  /** Nobody can act on it: dead letters. */
  | { readonly kind: "unreadable"; readonly because: string };

/**
 * Reads a message body as one of the `accepted` events. Anything else that is a proper event is not ours, whatever
 * its detail; an accepted kind with a bad detail is unreadable.
 */
export function readSignal(body: string, accepted: readonly EventDefinition[], home: Home): SignalReading {
  const json = parseJson(body);
  if (json === undefined) return { kind: "unreadable", because: "body is no JSON" };
  const parsed = envelopeSchema.safeParse(json);
  if (!parsed.success) return { kind: "unreadable", because: `envelope: ${oneLine(parsed.error)}` };

  const envelope = parsed.data;
  if (envelope.account !== home.account) return { kind: "not-ours", because: "event of another account" };
  if (envelope.region !== home.region) return { kind: "not-ours", because: "event of another region" };
  const event = accepted.find((one) => one.accepts(envelope));
  if (!event) return { kind: "not-ours", because: "event of a kind that nothing is done for" };
  return event.read(envelope);
}
