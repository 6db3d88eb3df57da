/**
 * A kind of cloud event in one place: the EventBridge pattern that lets it in, the schema that its detail must meet,
 * and its translation into a signal. The stack takes the pattern, the function takes `read`; nothing else knows AWS's
 * field names.
 */
import * as z from "zod";
import type { Signal } from "../shared/domain/signal.ts";

/** What EventBridge puts around every event. https://docs.aws.amazon.com/eventbridge/latest/ref/overiew-event-structure.html */
export const envelopeSchema = z.object({
  version: z.literal("0"),
  id: z.string().min(1).max(128),
  source: z.string().min(1),
  "detail-type": z.string().min(1),
  account: z.string().regex(/^\d{12}$/, "is no account id of 12 digits"),
  region: z.string().min(1),
  time: z.iso.datetime({ offset: true }).transform((text) => new Date(text)),
  detail: z.unknown(),
});

export type Envelope = z.infer<typeof envelopeSchema>;

export interface EventPattern {
  readonly source: readonly string[];
  readonly "detail-type": readonly string[];
}

export type EventReading =
  | { readonly kind: "signal"; readonly signal: Signal }
  | { readonly kind: "unreadable"; readonly because: string };

export interface EventDefinition {
  /** kebab-case; names the rule in the stack and the folder of the samples. */
  readonly name: string;
  readonly pattern: EventPattern;
  /** Whether the envelope is of this kind, by source and detail-type, to the letter. */
  accepts(envelope: Envelope): boolean;
  read(envelope: Envelope): EventReading;
}

export function defineEvent<Detail extends z.ZodType>(event: {
  readonly name: string;
  readonly source: string;
  readonly detailType: string;
  readonly detail: Detail;
  readonly toSignal: (envelope: Envelope, detail: z.infer<Detail>) => Signal;
}): EventDefinition {
  return {
    name: event.name,
    pattern: { source: [event.source], "detail-type": [event.detailType] },
    accepts: (envelope) => envelope.source === event.source && envelope["detail-type"] === event.detailType,
    read: (envelope) => {
      const detail = event.detail.safeParse(envelope.detail);
      if (detail.success) return { kind: "signal", signal: event.toSignal(envelope, detail.data) };
      return { kind: "unreadable", because: `${event.detailType}: detail: ${oneLine(detail.error)}` };
    },
  };
}

/** The faults of a parse on one line, each with the path of the field. */
export function oneLine(error: z.ZodError): string {
  return error.issues.map((issue) => [issue.path.join("."), issue.message].filter(Boolean).join(": ")).join("; ");
}
