/** One JSON line per fact on standard output. Tokens, signed URLs and query strings never come here. */

export type Level = "debug" | "info" | "warn" | "error";
export const LEVELS = ["debug", "info", "warn", "error"] as const;

export type Log = (level: Level, message: string, facts?: Readonly<Record<string, unknown>>) => void;

/**
 * More lines of info and debug than that in one second are counted and told in the next: a flood of refusals must not
 * fill a disk. Warnings and errors are always written; callers that nobody knows can't cause any.
 */
const MAX_LINES_PER_SECOND = 100;
const LIMITED: ReadonlySet<Level> = new Set(["debug", "info"]);

export function createLog(
  from: Level,
  write: (line: string) => void = (line) => void process.stdout.write(line),
  now: () => Date = () => new Date(),
): Log {
  let second = 0;
  let lines = 0;
  return (level, message, facts = {}) => {
    if (LEVELS.indexOf(level) < LEVELS.indexOf(from)) return;
    const time = now();
    const current = Math.floor(time.getTime() / 1000);
    const dropped = current === second ? 0 : Math.max(0, lines - MAX_LINES_PER_SECOND);
    if (current !== second) [second, lines] = [current, 0];
    if (LIMITED.has(level)) lines += 1;
    if (LIMITED.has(level) && lines > MAX_LINES_PER_SECOND) return;
    const fixed = { level, message, timestamp: time.toISOString(), service: "relay" };
    write(`${JSON.stringify({ ...fixed, ...facts, ...(dropped > 0 ? { droppedLines: dropped } : {}) })}\n`);
  };
}

/** An error's message and causes as one text, for a log line. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause === undefined ? error.message : `${error.message}: ${reasonOf(error.cause)}`;
}
