/** Reads a program's environment once, at start, and reports all of its faults together. */
import type * as z from "zod";

/** @throws naming every variable that is missing or wrong; values are not shown. */
export function readEnvironment<Schema extends z.ZodType>(
  schema: Schema,
  environment: Readonly<Record<string, string | undefined>>,
): z.output<Schema> {
  const parsed = schema.safeParse(environment);
  if (parsed.success) return parsed.data;
  const faults = parsed.error.issues.map((issue) => `  ${issue.path.join(".")}: ${issue.message}`);
  throw new Error(`reading the environment:\n${faults.join("\n")}`);
}
