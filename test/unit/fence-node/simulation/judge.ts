/**
 * Sees everything, and says what should never be seen: a pod deleted before its node was dead, a step against a node that
 * was heard of. What counts is the moment of fence-node's last look at the Leases: a look and a deletion are two requests,
 * and a node that comes back between them is counted by itself.
 */
import type { Timeline } from "./timeline.ts";

export type Step = "cordon" | "stop" | "delete pod" | "out-of-service" | "delete node";

/** The words of the fault that matters most. */
export const ALIVE = "was alive";

export const COUNTED = [
  "pods deleted",
  "fenced by ec2",
  "fenced by watchdog",
  "stopped",
  "terminated",
  "cordoned",
  "lifted",
  "reported",
  "held by a brake",
  "reset by the dog",
  "back between look and deed",
  "runs",
] as const;
export type Counts = Record<(typeof COUNTED)[number], number>;

export function noCounts(): Counts {
  const fencing = { "fenced by ec2": 0, "fenced by watchdog": 0, "pods deleted": 0, stopped: 0, terminated: 0 };
  const rest = { cordoned: 0, lifted: 0, reported: 0, "held by a brake": 0, "reset by the dog": 0, runs: 0 };
  return { ...fencing, ...rest, "back between look and deed": 0 };
}

/** From when a container of its pods may run to when none can. */
interface Life {
  readonly sinceMs: number;
  untilMs: number;
}

export class Judge {
  readonly counts: Counts = noCounts();
  readonly faults: string[] = [];
  /** When the last step was taken. */
  steppedAtMs = Number.NEGATIVE_INFINITY;
  readonly #said: { readonly atMs: number; readonly text: string }[] = [];
  readonly #timeline: Timeline;
  readonly #suspectAfterMs: number;
  readonly #lives = new Map<string, Life[]>();
  readonly #renewals = new Map<string, number[]>();

  constructor(timeline: Timeline, suspectAfterSeconds: number) {
    this.#timeline = timeline;
    this.#suspectAfterMs = 1000 * suspectAfterSeconds;
  }

  say(text: string): void {
    this.#said.push({ atMs: this.#timeline.nowMs, text });
  }

  /** What happened, for whoever reads a counter-example. */
  get story(): readonly string[] {
    return this.#said.map(({ atMs, text }) => `${(atMs / 1000).toFixed(1).padStart(7)} s  ${text}`);
  }

  lives(name: string): void {
    const lives = this.#livesOf(name);
    if (this.isAlive(name)) return;
    lives.push({ sinceMs: this.#timeline.nowMs, untilMs: Number.POSITIVE_INFINITY });
    this.say(`${name}: its pods run`);
  }

  died(name: string, cause: string): void {
    const last = this.#livesOf(name).at(-1);
    if (last && last.untilMs === Number.POSITIVE_INFINITY) last.untilMs = this.#timeline.nowMs;
    this.say(`${name}: dead (${cause})`);
  }

  isAlive(name: string): boolean {
    return this.#livesOf(name).at(-1)?.untilMs === Number.POSITIVE_INFINITY;
  }

  livedAt(name: string, atMs: number): boolean {
    return this.#livesOf(name).some(({ sinceMs, untilMs }) => sinceMs <= atMs && atMs <= untilMs);
  }

  renewed(name: string): void {
    const times = this.#renewals.get(name);
    if (times === undefined) this.#renewals.set(name, [this.#timeline.nowMs]);
    else times.push(this.#timeline.nowMs);
  }

  /** @param lookedAtMs when the API server last told fence-node of the older of the two Leases. */
  stepped(step: Step, name: string, lookedAtMs: number): void {
    const { nowMs } = this.#timeline;
    this.steppedAtMs = nowMs;
    this.say(`${name}: ${step}, last looked at ${((nowMs - lookedAtMs) / 1000).toFixed(1)} s ago`);
    const at = `${step} at ${(nowMs / 1000).toFixed(1)} s, looked at ${(lookedAtMs / 1000).toFixed(1)} s`;
    const renewals = this.#renewals.get(name) ?? [];
    const before = renewals.findLast((atMs) => atMs <= lookedAtMs) ?? Number.NEGATIVE_INFINITY;
    if (lookedAtMs - before < this.#suspectAfterMs)
      this.faults.push(`${name} was heard of ${((lookedAtMs - before) / 1000).toFixed(1)} s before: ${at}`);
    if (step !== "delete pod") return;
    this.counts["pods deleted"] += 1;
    const life = this.#livesOf(name).findLast(({ sinceMs }) => sinceMs <= nowMs);
    if (life === undefined || life.untilMs <= lookedAtMs) return;
    if (life.sinceMs <= lookedAtMs) this.faults.push(`${name} ${ALIVE}: ${at}`);
    else this.counts["back between look and deed"] += 1;
  }

  #livesOf(name: string): Life[] {
    const lives = this.#lives.get(name) ?? [];
    this.#lives.set(name, lives);
    return lives;
  }
}
