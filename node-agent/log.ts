/** One JSON line per fact on standard output, for people and for the log collector. Tokens never come here. */

export const LEVELS = ["debug", "info", "warn", "error"] as const;
export type Level = (typeof LEVELS)[number];

/** `message` is a constant lower-case sentence; what varies is in `facts`. */
export type Log = (level: Level, message: string, facts?: Readonly<Record<string, unknown>>) => void;

export function createLog(service: string, from: Level, write = writeToStandardOutput): Log {
  return (level, message, facts = {}) => {
    if (LEVELS.indexOf(level) < LEVELS.indexOf(from)) return;
    const line = { level, message, timestamp: new Date().toISOString(), service, ...facts };
    write(`${JSON.stringify(line)}\n`);
  };
}

function writeToStandardOutput(line: string): void {
  process.stdout.write(line);
}

/** An error's message and those of its causes as one text. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // Node's own has no message where none of the addresses of a name could be reached.
  if (error instanceof AggregateError && error.message === "")
    return error.errors.map((one: unknown) => reasonOf(one)).join("; ");
  return error.cause === undefined ? error.message : `${error.message}: ${reasonOf(error.cause)}`;
}
