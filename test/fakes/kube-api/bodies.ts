/** What the embedded API takes in the bodies of requests, parsed at the door; anything else is a bad request. */
import * as z from "zod";
import type { NodeChange } from "../../../shared/domain/node.ts";
import { badRequest, invalidNode } from "./refusal.ts";

const changes = z.record(z.string(), z.string().nullable());

const nodePatch = z.strictObject({
  metadata: z
    .strictObject({
      uid: z.string().optional(),
      resourceVersion: z.string().optional(),
      labels: changes.optional(),
      annotations: changes.optional(),
    })
    .prefault({}),
  spec: z
    .strictObject({
      unschedulable: z.boolean().nullable().optional(),
      taints: z
        .array(
          z.strictObject({
            key: z.string(),
            value: z.string().optional(),
            effect: z.enum(["NoSchedule", "PreferNoSchedule", "NoExecute"]),
            timeAdded: z.string().optional(),
          }),
        )
        .optional(),
    })
    .prefault({}),
});

const deleteOptions = z.object({
  gracePeriodSeconds: z.int().min(0).optional(),
  preconditions: z.object({ uid: z.string().optional() }).optional(),
});

export const eviction = z.object({ deleteOptions: deleteOptions.prefault({}) });

export const event = z.object({
  metadata: z.object({ name: z.string() }),
  involvedObject: z.object({ kind: z.string(), name: z.string(), uid: z.string() }),
  eventTime: z.iso.datetime({ precision: 6 }),
  reportingComponent: z.string().min(1),
  reportingInstance: z.string().min(1),
  action: z.string().min(1).max(128),
  type: z.enum(["Normal", "Warning"]),
  reason: z.string().min(1).max(128),
  message: z
    .string()
    .refine((note) => Buffer.byteLength(note) <= 1024)
    .default(""),
});

export interface NodePatch {
  readonly uid: string | undefined;
  readonly resourceVersion: string | undefined;
  readonly change: NodeChange;
}

export function parseNodePatch(name: string, body: string): NodePatch {
  const { metadata, spec } = parseBody(nodePatch, body);
  const wrong = Object.entries(metadata.labels ?? {}).find(([key, value]) => !isLabel(key, value ?? ""));
  if (wrong)
    throw invalidNode(name, "metadata.labels", `"${wrong[0]}": name part must consist of alphanumeric characters`);
  return {
    uid: metadata.uid,
    resourceVersion: metadata.resourceVersion,
    change: {
      ...(metadata.labels && { labels: withoutNulls(metadata.labels) }),
      ...(metadata.annotations && { annotations: withoutNulls(metadata.annotations) }),
      ...(spec.taints && {
        taints: spec.taints.map(({ key, effect, value, timeAdded }) => ({
          key,
          effect,
          ...(value !== undefined && { value }),
          ...(timeAdded !== undefined && { timeAdded }),
        })),
      }),
      ...(spec.unschedulable !== undefined && { unschedulable: spec.unschedulable ?? false }),
    },
  };
}

export function parseDeletion(options: z.infer<typeof deleteOptions>) {
  return { uid: options.preconditions?.uid, graceSeconds: options.gracePeriodSeconds };
}

export function parseDeleteBody(body: string) {
  return parseDeletion(parseBody(deleteOptions, body === "" ? "{}" : body));
}

export function parseBody<S extends z.ZodType>(schema: S, body: string): z.infer<S> {
  let json: unknown;
  try {
    json = JSON.parse(body);
  } catch {
    throw badRequest("the body of the request is not JSON");
  }
  const parsed = schema.safeParse(json);
  if (!parsed.success) throw badRequest(z.prettifyError(parsed.error));
  return parsed.data;
}

function withoutNulls(given: Record<string, string | null>): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(given).map(([key, value]) => [key, value ?? undefined]));
}

function isLabel(key: string, value: string): boolean {
  const name = /^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)$/;
  return name.test(key.slice(key.indexOf("/") + 1)) && (value === "" || (name.test(value) && value.length <= 63));
}
