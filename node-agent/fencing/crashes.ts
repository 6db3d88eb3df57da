/**
 * Counts the agent's crashes in a file of the node, so that the next process knows. Times are the node's uptime and
 * belong to one boot: a wall clock that jumps changes nothing, and a reset isn't a crash.
 */
import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";
import { parseJson } from "../../shared/domain/parse-json.ts";
import { reasonOf } from "../log.ts";
import { CRASH_BUDGET } from "./aim.ts";
import { fieldsOf } from "./fields.ts";

/**
 * Crashes older than that are forgotten. The kubelet forgets its back-off only after a life of ten minutes, and waits for
 * up to five: so long apart can two crashes of one loop be noticed. With less, a loop of slow crashes would be armed
 * again just when the wait is longest: https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/#restart-policy
 */
export const CRASH_WINDOW_SECONDS = 15 * 60;
/** More starts than that within the window are told by the last ones alone. */
const MAX_STARTS = 20;

export type CrashCount =
  | {
      readonly kind: "counted";
      readonly crashes: number;
      /** Until the last crash is forgotten. */
      readonly calmInMs: number;
      /** Why the file wasn't believed, if so. */
      readonly distrusted?: string;
    }
  /** This start could not be noted, so the next process would know nothing of a crash. */
  | { readonly kind: "unknown"; readonly because: string };

export interface CrashFile {
  /** Notes a start, and gives how many of the earlier ones ended in a crash. May be asked again after "unknown". */
  noteStart(): CrashCount;
  /** @throws if it can't be written. Without it, the next start counts a crash. */
  noteCleanEnd(): void;
}

export interface CrashFileOptions {
  readonly path: string;
  readonly bootId: string;
  /** Seconds since boot. */
  readonly uptimeSeconds: () => number;
}

interface Start {
  readonly atSeconds: number;
  readonly endedCleanly: boolean;
}

export function crashFile({ path, bootId, uptimeSeconds }: CrashFileOptions): CrashFile {
  let starts: readonly Start[] = [];

  return {
    noteStart() {
      const now = uptimeSeconds();
      const found = readStarts(path, bootId, now);
      const earlier = found.kind === "starts" ? found.starts : [];
      starts = [...earlier, { atSeconds: now, endedCleanly: false }].slice(-MAX_STARTS);
      try {
        write(path, bootId, starts);
      } catch (error) {
        return { kind: "unknown", because: `writing ${path}: ${reasonOf(error)}` };
      }
      if (found.kind === "starts") return count(earlier, now);
      // It may have told of a loop. Some minutes without a dog cost less than a reset.
      const calmInMs = CRASH_WINDOW_SECONDS * 1000;
      return { kind: "counted", crashes: CRASH_BUDGET, calmInMs, distrusted: found.because };
    },
    noteCleanEnd() {
      const last = starts.at(-1);
      if (last === undefined) return;
      write(path, bootId, [...starts.slice(0, -1), { ...last, endedCleanly: true }]);
    },
  };
}

/** A process crashed at the latest when the next one began. */
function count(earlier: readonly Start[], now: number): CrashCount {
  const times = earlier.flatMap(({ endedCleanly }, index) =>
    endedCleanly ? [] : [earlier[index + 1]?.atSeconds ?? now],
  );
  const recent = times.filter((time) => now - time < CRASH_WINDOW_SECONDS);
  const last = recent.at(-1) ?? now - CRASH_WINDOW_SECONDS;
  return { kind: "counted", crashes: recent.length, calmInMs: 1000 * (CRASH_WINDOW_SECONDS - (now - last)) };
}

type Found =
  | { readonly kind: "starts"; readonly starts: readonly Start[] }
  | { readonly kind: "distrusted"; readonly because: string };

function readStarts(path: string, bootId: string, now: number): Found {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    const isFirst = error instanceof Error && "code" in error && error.code === "ENOENT";
    return isFirst ? { kind: "starts", starts: [] } : distrusted(`reading ${path}: ${reasonOf(error)}`);
  }
  const file = fieldsOf(parseJson(text));
  if (file.v !== 1 || typeof file.bootId !== "string" || !Array.isArray(file.starts))
    return distrusted(`${path} isn't what this agent writes`);
  if (file.bootId !== bootId) return { kind: "starts", starts: [] };
  const starts = file.starts.map((item: unknown) => startFrom(fieldsOf(item), now));
  const read = starts.filter((start) => start !== undefined);
  return read.length === starts.length ? { kind: "starts", starts: read } : distrusted(`${path} has a broken entry`);
}

function startFrom({ atSeconds, endedCleanly }: Readonly<Record<string, unknown>>, now: number): Start | undefined {
  if (typeof atSeconds !== "number" || !(atSeconds >= 0 && atSeconds <= now)) return undefined;
  return typeof endedCleanly === "boolean" ? { atSeconds, endedCleanly } : undefined;
}

function distrusted(because: string): Found {
  return { kind: "distrusted", because };
}

/** Whole or not at all, also when the node is reset in the middle: a file beside it, synced, then renamed. */
function write(path: string, bootId: string, starts: readonly Start[]): void {
  const folder = dirname(path);
  // One level: `recursive` never comes back where a folder can't be made though its parent is there, as in /proc.
  if (!existsSync(folder)) mkdirSync(folder);
  const beside = `${path}.new`;
  const file = openSync(beside, "w", 0o600);
  try {
    // Not writeSync, which may write a part of it on a full disk and say nothing.
    writeFileSync(file, `${JSON.stringify({ v: 1, bootId, starts })}\n`);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(beside, path);
  const handle = openSync(folder, "r");
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
