/**
 * What a drain must remember, kept on the Node as an annotation: it survives any function and is what an operator
 * reads. Written only when it changes. A record of a version we don't know is left alone and reported.
 */

import * as z from "zod";
import { parseJson } from "./parse-json.ts";

const time = z.iso.datetime({ offset: true });

const drainRecordSchema = z.object({
  v: z.literal(1),
  /** `<kind>/<id>` of the signal that drains the node. */
  signal: z.string(),
  decision: z.enum(["draining", "drained", "unreachable", "gave-up"]),
  because: z.string(),
  deadline: time,
  startedAt: time,
  /** When a budget first refused an eviction, per tier; escalation counts from here. */
  blockedSince: z.object({ apps: time.optional(), critical: time.optional() }).optional(),
  /** Why the taint is missing, where admission refused it: it isn't asked for again. */
  taintRefused: z.string().optional(),
  endedAt: time.optional(),
});

export type DrainRecord = z.infer<typeof drainRecordSchema>;

export type DrainRecordReading =
  | { readonly kind: "none" }
  | { readonly kind: "record"; readonly record: DrainRecord }
  | { readonly kind: "unknown"; readonly because: string };

export function readDrainRecord(annotation: string | undefined): DrainRecordReading {
  if (annotation === undefined) return { kind: "none" };
  const parsed = drainRecordSchema.safeParse(parseJson(annotation));
  if (parsed.success) return { kind: "record", record: parsed.data };
  return { kind: "unknown", because: `drain record not understood: ${z.prettifyError(parsed.error)}` };
}

export function writeDrainRecord(record: DrainRecord): string {
  return JSON.stringify(record);
}
