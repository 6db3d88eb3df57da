/**
 * Whether the node is short of memory: three rules, each of which may say so alone. A is for the fast leak without
 * swap, which pressure doesn't show before the kernel kills; B and C are for nodes that thrash.
 */
import type { MemorySample, Rule, Rules, Shortage } from "../words.ts";
import { fallenKib, findBefore, noiseKib } from "./window.ts";

/** Of all memory, the share below which rule A looks closer; 5 % of a large node is no shortage, so it is capped. */
const LINE_SHARE = 0.05;
/** The cap, above what the kubelet evicts at. */
const ABOVE_EVICTION_KIB = 400 * 1024;
const FALLING_MS = 5_000;
const STILL_FALLING_MS = 1_000;
/** A single process that waits for a page or two isn't "tasks wait": 0.2 % of 5 s. */
const WAITED_US = 10_000;
/** Percent; the Deckhouse platform's early-oom strikes at it. */
const FULL_AVG10 = 30;
/** The average of a node that recovered needs up to 12 s to fall below 30: without this, it would cost an innocent. */
const STILL_STALLED_SHARE = 0.05;
const FULL_SHARE = 0.3;
const FULL_SPAN_MS = 1_000;
const FULL_AVAILABLE_SHARE = 0.15;

/** MemAvailable, in KiB, below which rule A looks closer: min(5 % of total, evictionHard + 400 MiB). */
export function shortageLineKib(totalKib: number, { evictionHardKib }: Rules): number {
  return Math.min(totalKib * LINE_SHARE, evictionHardKib + ABOVE_EVICTION_KIB);
}

/** @param samples oldest first, as `keepWindow` keeps them; the last one is now. */
export function decideShortage(samples: readonly MemorySample[], rules: Rules): Shortage {
  const now = samples.at(-1);
  if (now === undefined) return fine("memory wasn't looked at yet");
  const a = rules.a ? sinkingBecause(samples, now, rules) : undefined;
  if (a !== undefined) return short("A", a);
  const b = rules.b ? thrashingBecause(samples, now) : undefined;
  if (b !== undefined) return short("B", b);
  const c = rules.c ? stallingBecause(samples, now) : undefined;
  if (c !== undefined) return short("C", c);
  return fine(now.availableKib < shortageLineKib(now.totalKib, rules) ? "little memory, but steady" : "enough memory");
}

/** Rule A: twice below the line, and still falling over 5 s or tasks wait. Without pressure, falling alone decides. */
function sinkingBecause(samples: readonly MemorySample[], now: MemorySample, rules: Rules): string | undefined {
  const line = shortageLineKib(now.totalKib, rules);
  const before = samples.at(-2);
  if (before === undefined || now.availableKib >= line || before.availableKib >= line) return undefined;
  const state = `${mib(now.availableKib)} MiB available, below ${mib(line)} MiB`;
  const noise = noiseKib(now.totalKib);
  const fallen = fallenKib(samples, now, FALLING_MS);
  // A load that came to rest fell over 5 s too, for 5 s: "still" asks the last second as well.
  const still = fallenKib(samples, now, STILL_FALLING_MS) >= noise * (STILL_FALLING_MS / FALLING_MS);
  if (fallen >= noise && still) return `${state}, ${mib(fallen)} MiB less than up to 5 s before`;
  const since = findBefore(samples, now, FALLING_MS) ?? samples[0] ?? now;
  const waitedUs = growthUs(since, now, "someTotalUs") ?? 0;
  if (waitedUs >= WAITED_US) return `${state}, and tasks waited ${ms(waitedUs)} ms for memory in up to 5 s`;
  return undefined;
}

/** Rule B: the average is high, and not only by what is over for a second. */
function thrashingBecause(samples: readonly MemorySample[], now: MemorySample): string | undefined {
  const { pressure } = now;
  if (pressure.kind === "unavailable" || pressure.fullAvg10 <= FULL_AVG10) return undefined;
  const before = findBefore(samples, now, FULL_SPAN_MS);
  if (before && (growthUs(before, now, "fullTotalUs") ?? 0) / 1000 < STILL_STALLED_SHARE * (now.atMs - before.atMs)) {
    return undefined;
  }
  return `every task waited for memory during ${pressure.fullAvg10} % of the last 10 s, above ${FULL_AVG10} %`;
}

/** Rule C: two spans of a second or a little more, one after the other. */
function stallingBecause(samples: readonly MemorySample[], now: MemorySample): string | undefined {
  if (now.availableKib > now.totalKib * FULL_AVAILABLE_SHARE) return undefined;
  const middle = findBefore(samples, now, FULL_SPAN_MS);
  const first = middle && findBefore(samples, middle, FULL_SPAN_MS);
  if (first === undefined || middle === undefined) return undefined;
  const shares = [stalledShare(first, middle), stalledShare(middle, now)];
  if (shares.some((share) => share <= FULL_SHARE)) return undefined;
  const percents = shares.map((share) => Math.round(share * 100)).join(" and ");
  return `every task waited for memory during ${percents} % of two seconds running, ${mib(now.availableKib)} MiB available`;
}

function stalledShare(from: MemorySample, to: MemorySample): number {
  return (growthUs(from, to, "fullTotalUs") ?? 0) / 1000 / (to.atMs - from.atMs);
}

function growthUs(from: MemorySample, to: MemorySample, total: "someTotalUs" | "fullTotalUs"): number | undefined {
  if (from.pressure.kind === "unavailable" || to.pressure.kind === "unavailable") return undefined;
  return to.pressure[total] - from.pressure[total];
}

/** The rules in force on this node as one text, for the log at start. */
export function describeRules(totalKib: number, rules: Rules): string {
  const line = mib(shortageLineKib(totalKib, rules));
  const texts: Readonly<Record<Rule, string>> = {
    A: `A: less than ${line} MiB of ${mib(totalKib)} MiB available at two looks, and ${mib(noiseKib(totalKib))} MiB less than 5 s before and still falling, or tasks wait`,
    B: `B: every task waits more than ${FULL_AVG10} % of 10 s, and still does`,
    C: `C: every task waits more than ${FULL_SHARE * 1000} ms of a second, twice running, with at most ${mib(totalKib * FULL_AVAILABLE_SHARE)} MiB available`,
  };
  const on = [...(rules.a ? [texts.A] : []), ...(rules.b ? [texts.B] : []), ...(rules.c ? [texts.C] : [])];
  return on.length === 0 ? "no rule is on: nothing is ever struck" : on.join("; ");
}

function fine(because: string): Shortage {
  return { kind: "fine", because };
}

function short(rule: Rule, because: string): Shortage {
  return { kind: "short", rule, because };
}

function mib(kib: number): number {
  return Math.round(kib / 1024);
}

function ms(us: number): number {
  return Math.round(us / 1000);
}
