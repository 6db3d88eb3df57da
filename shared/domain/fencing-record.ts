/**
 * What fence-node must remember of a node that it suspects, kept on the Node as an annotation: it survives any run and
 * is what an operator reads. A record of a version we don't know is left alone and reported.
 */
import * as z from "zod";
import { FENCING_PROOFS } from "./metrics.ts";
import { parseJson } from "./parse-json.ts";

/** Annotation on a Node: the fencing record (JSON). */
export const FENCING_RECORD_ANNOTATION = "nodekeeper.dev/fencing";

const time = z.iso.datetime({ offset: true });

const fencingRecordSchema = z.object({
  v: z.literal(1),
  /** `fencing`: the node is known to be dead and its pods are let go; `fenced`: that is done, and the Node stays. */
  phase: z.enum(["cordoned", "stopping", "fencing", "fenced"]),
  /** Of the Node, and of the life of its kernel, when it was suspected. */
  uid: z.string(),
  bootId: z.string().optional(),
  because: z.string(),
  /** resourceVersions of its Leases while nothing was heard: any other one means that it lives. */
  leases: z.object({ agent: z.string().optional(), kubelet: z.string().optional() }),
  startedAt: time,
  /** Whether the cordon is ours to lift. */
  cordoned: z.boolean(),
  /** When its instance was told to end, and how. */
  stop: z.object({ how: z.enum(["stop", "terminate"]), at: time }).optional(),
  /** By what it was known to be dead. */
  proof: z.object({ kind: z.enum(FENCING_PROOFS), because: z.string(), at: time }).optional(),
});

export type FencingRecord = z.infer<typeof fencingRecordSchema>;

export type FencingRecordReading =
  | { readonly kind: "none" }
  | { readonly kind: "record"; readonly record: FencingRecord }
  | { readonly kind: "unknown"; readonly because: string };

export function readFencingRecord(annotation: string | undefined): FencingRecordReading {
  if (annotation === undefined) return { kind: "none" };
  const parsed = fencingRecordSchema.safeParse(parseJson(annotation));
  if (parsed.success) return { kind: "record", record: parsed.data };
  return { kind: "unknown", because: `fencing record not understood: ${z.prettifyError(parsed.error)}` };
}

export function writeFencingRecord(record: FencingRecord): string {
  return JSON.stringify(record);
}

/** What the annotation that marks a cordon as ours says, for the life of one Node. */
export function fencingName(uid: string): string {
  return `fencing/${uid}`;
}
