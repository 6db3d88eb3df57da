/** How soon to look again: at memory, which costs microseconds, and at every container, which costs milliseconds. */
import type { MemorySample, Rules } from "../words.ts";
import { shortageLineKib } from "./shortage.ts";
import { fallenKib } from "./window.ts";

/** No program fills memory faster than about 6 GB/s, so headroom divided by it is time that is surely left. */
const KIB_PER_MS = 6_000;
const SHORTEST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 1_000;

/** Keeps the growth figures fresh on a node that is well. */
const SCAN_WHEN_WELL_MS = 30_000;
const SCAN_WHEN_NEAR_MS = 2_000;
/** Near: less than three times the line, or the line would be reached within 10 s as fast as in the last second. */
const NEAR_LINES = 3;
const NEAR_MS = 10_000;
const RECENT_MS = 1_000;

/** @returns milliseconds until memory is looked at again. */
export function decidePause(sample: MemorySample, rules: Rules): number {
  const pause = headroomKib(sample, rules) / KIB_PER_MS;
  return Math.round(Math.min(Math.max(pause, SHORTEST_PAUSE_MS), LONGEST_PAUSE_MS));
}

export type ScanTurn =
  | { readonly kind: "scan"; readonly because: string }
  | { readonly kind: "later"; readonly because: string };

/** Whether the containers are to be scanned for their growth. A strike scans in any case. */
export function decideScan(samples: readonly MemorySample[], rules: Rules, lastScanAtMs: number | undefined): ScanTurn {
  const now = samples.at(-1);
  if (now === undefined) return { kind: "later", because: "memory wasn't looked at yet" };
  if (lastScanAtMs === undefined) return { kind: "scan", because: "growth needs a first figure" };
  const age = now.atMs - lastScanAtMs;
  if (age >= SCAN_WHEN_WELL_MS) return { kind: "scan", because: "the last figures are old" };
  if (age >= SCAN_WHEN_NEAR_MS && isNear(samples, now, rules)) return { kind: "scan", because: "a shortage is near" };
  return { kind: "later", because: "the last figures will do" };
}

function isNear(samples: readonly MemorySample[], now: MemorySample, rules: Rules): boolean {
  if (now.availableKib < NEAR_LINES * shortageLineKib(now.totalKib, rules)) return true;
  return headroomKib(now, rules) < fallenKib(samples, now, RECENT_MS) * (NEAR_MS / RECENT_MS);
}

function headroomKib({ availableKib, totalKib }: MemorySample, rules: Rules): number {
  return availableKib - shortageLineKib(totalKib, rules);
}
