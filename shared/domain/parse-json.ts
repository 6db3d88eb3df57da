/** JSON from outside: text that is none is an answer too. */

/** The value in `text`, or undefined where it is no JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
