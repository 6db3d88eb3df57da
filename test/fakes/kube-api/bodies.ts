/** What the embedded API takes in the bodies of requests, parsed at the door into the model's words. */
import * as z from "zod";
import { badRequest, invalid } from "./refusal.ts";

const LABEL_KEY = /^([-a-z0-9.]+\/)?[A-Za-z0-9]([-\w.]{0,61}[A-Za-z0-9])?$/;
const LABEL_VALUE = /^([A-Za-z0-9]([-\w.]{0,61}[A-Za-z0-9])?)?$/;

/** In a merge patch null takes a key away. */
const nothing = z.null().transform(() => undefined);
const labels = z.record(z.string().regex(LABEL_KEY), z.union([z.string().regex(LABEL_VALUE), nothing]));
const annotations = z.record(z.string().regex(LABEL_KEY), z.union([z.string(), nothing]));

const taint = z.strictObject({
  key: z.string().regex(LABEL_KEY),
  value: z.string().regex(LABEL_VALUE).exactOptional(),
  effect: z.enum(["NoSchedule", "PreferNoSchedule", "NoExecute"]),
  timeAdded: z.string().exactOptional(),
});

export const nodePatch = z.strictObject({
  metadata: z.strictObject({
    uid: z.string().optional(),
    resourceVersion: z.string().optional(),
    labels: labels.exactOptional(),
    annotations: annotations.exactOptional(),
  }),
  spec: z.strictObject({ unschedulable: z.boolean().exactOptional(), taints: z.array(taint).exactOptional() }),
});

export const deletion = z
  .object({
    gracePeriodSeconds: z.int().min(0).optional(),
    preconditions: z.object({ uid: z.string().optional(), resourceVersion: z.string().optional() }).prefault({}),
  })
  .transform(({ preconditions, gracePeriodSeconds: graceSeconds }) => ({ ...preconditions, graceSeconds }));

export type DeletionRequest = Partial<z.infer<typeof deletion>>;

export const eviction = z.object({ deleteOptions: deletion });

const word = z.string().min(1).max(128);

const eventBody = z.object({
  metadata: z.object({ name: z.string(), namespace: z.string() }),
  involvedObject: z.object({ kind: z.string(), name: z.string(), uid: z.string() }),
  reason: word,
  action: word,
  reportingComponent: word,
  reportingInstance: word,
  eventTime: z.iso.datetime({ precision: 6 }),
  type: z.enum(["Normal", "Warning"]),
  message: z.string().refine((note) => Buffer.byteLength(note) <= 1024),
});

export const event = eventBody.transform(({ metadata, involvedObject, type, reason, message }) => {
  return { ...metadata, regarding: involvedObject, type, reason, note: message };
});

export type StoredEvent = Readonly<z.infer<typeof event>>;

/** @throws Refusal: no JSON is a bad request, what the schema doesn't know is invalid. */
export function parseBody<S extends z.ZodType>(schema: S, body: string): z.infer<S> {
  let json: unknown;
  try {
    json = JSON.parse(body);
  } catch {
    throw badRequest("the body of the request is not JSON");
  }
  const parsed = schema.safeParse(json);
  if (!parsed.success) throw invalid(z.prettifyError(parsed.error));
  return parsed.data;
}
