/** Reads JSON from outside field by field: what is missing or of another kind is empty, never an exception. */

export type Fields = Readonly<Record<string, unknown>>;

/** The fields of an object, or none. */
export function fieldsOf(value: unknown): Fields {
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  return isObject ? Object.fromEntries(Object.entries(value)) : {};
}

/** Those fields that are text, as labels and annotations are. */
export function textsOf(value: unknown): Readonly<Record<string, string>> {
  const texts: Record<string, string> = {};
  for (const [key, text] of Object.entries(fieldsOf(value))) if (typeof text === "string") texts[key] = text;
  return texts;
}

export function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}
