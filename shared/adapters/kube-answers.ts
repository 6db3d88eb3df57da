/**
 * Translates how a request to the Kubernetes API failed into our own words. Messages carry what the server said, cut
 * to a bound, and never a request's headers or a whole body.
 */

import { ApiException } from "@kubernetes/client-node/dist/gen/index.js";
import * as z from "zod";
import { parseJson } from "../domain/parse-json.ts";
import { ClusterRefused, ClusterUnavailable } from "../ports/cluster.ts";
import { RequestUnanswered } from "./kube-transport.ts";

const MAX_MESSAGE = 300;
const DEFAULT_RETRY_SECONDS = 1;
const MAX_RETRY_SECONDS = 60;

const causeSchema = z.object({
  reason: z.string().default(""),
  message: z.string().default(""),
  /** Path of the field that is at fault, in answers of validation. */
  field: z.string().default(""),
});

/** The parts of a `metav1.Status` that decide something. */
const statusSchema = z.object({
  message: z.string().default(""),
  details: z
    .object({
      retryAfterSeconds: z.number().optional(),
      causes: z.array(causeSchema).default([]),
    })
    .prefault({}),
});

export type Failure =
  /** The server answered with an error status. */
  | {
      readonly kind: "answer";
      readonly code: number;
      readonly message: string;
      readonly causes: readonly Readonly<z.infer<typeof causeSchema>>[];
      readonly retryAfterSeconds: number;
    }
  /** No answer came. */
  | { readonly kind: "no-answer"; readonly message: string };

/** @throws what is neither an answer nor the lack of one, as it came. */
export function failureOf(error: unknown): Failure {
  if (error instanceof RequestUnanswered) return { kind: "no-answer", message: cut(error.message) };
  // Anything else is a fault of ours, and no "later" of the cluster's.
  if (!(error instanceof ApiException)) throw error;
  const status = parseStatus(error.body);
  return {
    kind: "answer",
    code: error.code,
    message: cut(status.message),
    causes: status.details.causes,
    retryAfterSeconds: retrySeconds(error.headers["retry-after"], status.details.retryAfterSeconds),
  };
}

/** Whether a later try can help: no answer, 5xx, "too many requests", an expired page token, a time-out. */
export function isTransient(failure: Failure): boolean {
  return failure.kind === "no-answer" || failure.code >= 500 || [408, 410, 429].includes(failure.code);
}

/** The error to throw for a failure that no union of the port has a word for. `doing`: gerund and object. */
export function asClusterError(error: unknown, doing: string): ClusterUnavailable | ClusterRefused {
  if (error instanceof ClusterRefused) return new ClusterRefused(`${doing}: ${error.message}`);
  const failure = failureOf(error);
  const because = describeFailure(failure);
  const cause = causeOf(error);
  if (!isTransient(failure)) return new ClusterRefused(`${doing}: ${because}`, { cause });
  const retryAfterSeconds = failure.kind === "answer" ? failure.retryAfterSeconds : DEFAULT_RETRY_SECONDS;
  return new ClusterUnavailable(`${doing}: ${because}`, { cause, retryAfterSeconds });
}

/** Runs requests whose only expected end is success. */
export async function asking<T>(doing: string, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    throw asClusterError(error, doing);
  }
}

/** HTTP status of the answer, if there was one. */
export function codeOf(error: unknown): number | undefined {
  const failure = failureOf(error);
  return failure.kind === "answer" ? failure.code : undefined;
}

export function describeFailure(failure: Failure): string {
  return failure.kind === "no-answer" ? failure.message : `${failure.code} ${failure.message}`.trim();
}

export function hasCause(failure: Failure, reason: string): boolean {
  return failure.kind === "answer" && failure.causes.some((cause) => cause.reason === reason);
}

/** An ApiException's own message repeats body and headers in full, so it is no cause to hand on. */
function causeOf(error: unknown): unknown {
  return error instanceof ApiException ? undefined : error;
}

function parseStatus(body: unknown): z.infer<typeof statusSchema> {
  const parsed = statusSchema.safeParse(typeof body === "string" ? parseJson(body) : body);
  if (parsed.success) return parsed.data;
  return { message: typeof body === "string" ? body : "", details: { causes: [] } };
}

function retrySeconds(header: string | undefined, detail: number | undefined): number {
  const asked = header !== undefined && /^\d+$/.test(header) ? Number(header) : detail;
  return Math.min(Math.max(asked ?? DEFAULT_RETRY_SECONDS, DEFAULT_RETRY_SECONDS), MAX_RETRY_SECONDS);
}

function cut(text: string): string {
  const line = text.replaceAll(/\s+/g, " ").trim();
  return line.length > MAX_MESSAGE ? `${line.slice(0, MAX_MESSAGE)}…` : line;
}
