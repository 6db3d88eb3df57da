/** Reads what a fencing-agent wrote into its Lease. An unknown version or a broken text is said, never guessed. */
import * as z from "zod";
import { FENCING_MODES, type FencingStatement } from "./fencing-lease.ts";
import { parseJson } from "./parse-json.ts";

/** Looser than what we write today: a later agent of the same version may add fields. */
const statementSchema = z.object({
  v: z.literal(1),
  mode: z.enum(FENCING_MODES),
  bootId: z.string().min(1).max(64),
  watchdogTimeoutSeconds: z.int().min(1).max(86_400).optional(),
  feedWithinSeconds: z.number().positive().max(3600),
  armed: z.boolean(),
  agent: z.string().min(1).max(128),
  sequence: z.int().min(0),
});

export type FencingStatementReading =
  | { readonly kind: "statement"; readonly statement: FencingStatement }
  | { readonly kind: "unreadable"; readonly because: string };

/** `annotation` is the value of FENCING_ANNOTATION, undefined where the Lease has none. */
export function readFencingStatement(annotation: string | undefined): FencingStatementReading {
  if (annotation === undefined) return { kind: "unreadable", because: "the Lease has no fencing annotation" };
  const parsed = statementSchema.safeParse(parseJson(annotation));
  if (!parsed.success) return { kind: "unreadable", because: z.prettifyError(parsed.error) };
  const { watchdogTimeoutSeconds, ...rest } = parsed.data;
  return {
    kind: "statement",
    statement: { ...rest, ...(watchdogTimeoutSeconds === undefined ? {} : { watchdogTimeoutSeconds }) },
  };
}
