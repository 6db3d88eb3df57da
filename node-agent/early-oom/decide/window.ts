/** The last seconds of memory samples, oldest first, and what is read out of them. */
import type { MemorySample } from "../words.ts";

/** What the rules look back on; rule C needs 4 s at most where looks are a second apart. */
const WINDOW_MS = 5_000;
/** 5 s of looks 100 ms apart make 51; looking again before a strike adds a few. */
const MAX_SAMPLES = 128;

/** The window with `sample` added, down to the last sample that is at least 5 s old. */
export function keepWindow(samples: readonly MemorySample[], sample: MemorySample): readonly MemorySample[] {
  const reach = samples.findLastIndex(({ atMs }) => atMs <= sample.atMs - WINDOW_MS);
  return [...samples.slice(Math.max(reach, 0)).slice(1 - MAX_SAMPLES), sample];
}

/** The youngest sample that is at least `ageMs` older than `from`. */
export function findBefore(
  samples: readonly MemorySample[],
  from: MemorySample,
  ageMs: number,
): MemorySample | undefined {
  return samples.findLast(({ atMs }) => atMs <= from.atMs - ageMs);
}

/** By how many KiB available memory fell over the last `ageMs`, or since the first sample; negative where it rose. */
export function fallenKib(samples: readonly MemorySample[], now: MemorySample, ageMs: number): number {
  const before = findBefore(samples, now, ageMs) ?? samples[0] ?? now;
  return before.availableKib - now.availableKib;
}

/**
 * Below this, in KiB over 5 s, a change is the breathing of a steady node: 0.2 % of its memory, 4-32 MiB. What leaks
 * more slowly leaves the kubelet's own eviction, which looks every 10 s, a minute or more.
 */
export function noiseKib(totalKib: number): number {
  return Math.min(Math.max(totalKib * 0.002, 4 * 1024), 32 * 1024);
}
