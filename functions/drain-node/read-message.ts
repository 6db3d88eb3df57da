/** From a queue's message to a signal, or to its end at the door: not ours, or unreadable. */
import type { SQSRecord } from "aws-lambda";
import type { EventDefinition } from "../../events/define-event.ts";
import { type Home, readSignal } from "../../events/read-signal.ts";
import { deadLetter, done } from "../../shared/domain/outcome.ts";
import type { Signal } from "../../shared/domain/signal.ts";
import type { Reading } from "../../shared/lambda/handle-batch.ts";
import type { Note } from "./facts.ts";

export interface Door {
  readonly accepted: readonly EventDefinition[];
  readonly home: Home;
}

export function readMessage(record: SQSRecord, { accepted, home }: Door, note: Note): Reading<Signal> {
  const reading = readSignal(record.body, accepted, home);
  switch (reading.kind) {
    case "signal":
      if (record.attributes.ApproximateReceiveCount === "1") note({ kind: "received" }, reading.signal);
      return { kind: "signal", signal: { ...reading.signal, receivedAt: firstReceive(record) } };
    case "not-ours": {
      const outcome = done(reading.because);
      note({ kind: "settled-at-the-door", decision: "not-ours", outcome });
      return { kind: "settled", outcome };
    }
    case "unreadable": {
      const outcome = deadLetter(reading.because);
      note({ kind: "settled-at-the-door", decision: "unreadable", outcome });
      return { kind: "settled", outcome };
    }
  }
}

/** SQS gives milliseconds since 1970, as text. */
function firstReceive({ attributes }: SQSRecord): Date {
  return new Date(Number(attributes.ApproximateFirstReceiveTimestamp));
}
