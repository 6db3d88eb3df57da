/**
 * The story of early-oom, one turn at a time: look at memory; where it is short, look at the containers, choose, look
 * again, strike, and follow what became of it. A turn is synchronous: an answer that comes late is none.
 */
import { dareToLook } from "./dare.ts";
import { decidePause, decideScan } from "./decide/pace.ts";
import { decideShortage } from "./decide/shortage.ts";
import { decideStrike, decideTurn, keepStrikes } from "./decide/strike.ts";
import { keepWindow } from "./decide/window.ts";
import { follow, type Seen, type Struck } from "./follow.ts";
import { findKernelKills } from "./observe/kernel-kills.ts";
import type { Eyes, Parts } from "./parts.ts";
import { describeContainer, type StrikeReport, type Took } from "./report.ts";
import { ShortageSaid } from "./shortage-said.ts";
import type { CgroupScan, MemorySample, Shortage, Strike, Victim } from "./words.ts";

type Short = Extract<Shortage, { kind: "short" }>;

interface Moment {
  readonly sample: MemorySample;
  readonly shortage: Shortage;
}

/** While memory is short, and while a strike is followed. */
const SHORT_PAUSE_MS = 100;

export class EarlyOom {
  readonly #parts: Parts;
  readonly #eyes: Eyes;
  readonly #said: ShortageSaid;
  #samples: readonly MemorySample[] = [];
  #scan: CgroupScan | undefined;
  #strikes: readonly Strike[] = [];
  #following: { readonly struck: Struck; readonly outcome: (seen: Seen) => Took | undefined } | undefined;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#eyes = dareToLook(parts.eyes, parts.journal);
    this.#said = new ShortageSaid(parts.journal);
  }

  /**
   * @returns milliseconds until the next turn.
   * @throws what the eyes throw; the next turn begins afresh.
   */
  turn(): number {
    const { journal, rules } = this.#parts;
    const { sample, shortage } = this.#look();
    journal.looked(sample);
    this.#said.saw(shortage, sample);
    this.#noteGone();
    this.#followStrike(sample);
    if (shortage.kind === "short") this.#meet(shortage);
    else if (decideScan(this.#samples, rules, this.#scan?.atMs).kind === "scan") this.#lookAround();
    return shortage.kind === "short" || this.#following ? SHORT_PAUSE_MS : decidePause(sample, rules);
  }

  #look(): Moment {
    const sample = this.#eyes.look();
    this.#samples = keepWindow(this.#samples, sample);
    return { sample, shortage: decideShortage(this.#samples, this.#parts.rules) };
  }

  #noteGone(): void {
    const seen = this.#strikes.map((strike) => {
      if (strike.gone || strike.cgroup === undefined || !this.#eyes.isGone(strike.cgroup)) return strike;
      return { ...strike, gone: true };
    });
    this.#strikes = keepStrikes(seen, this.#parts.now());
  }

  #followStrike(after: MemorySample): void {
    if (this.#following === undefined) return;
    const { struck, outcome } = this.#following;
    const took = outcome({ ...this.#eyes, nowMs: this.#parts.now(), facts: this.#parts.pods.facts });
    if (took === undefined) return;
    this.#following = undefined;
    this.#report(struck, took, after);
  }

  #meet(shortage: Short): void {
    const { mode, pods, podUid, now } = this.#parts;
    if (this.#following || decideTurn(this.#strikes, now()).kind === "wait") return;
    const scan = this.#lookAround();
    const { sample, shortage: again } = this.#look();
    const move = decideStrike({
      mode: mode(),
      nowMs: now(),
      again,
      question: {
        totalKib: sample.totalKib,
        // Unseen, nobody can be chosen: then the kernel is asked.
        containers: scan?.containers ?? [],
        facts: pods.facts,
        ownPodUid: podUid,
        strikes: this.#strikes,
      },
    });
    const why = again.kind === "short" ? again : shortage;
    switch (move.kind) {
      case "nothing":
        this.#said.spared(`memory recovered before the strike: ${move.because}`);
        return;
      case "wait":
        return;
      case "kill":
        this.#kill(move.victim, why, sample);
        return;
      case "sysrq":
        this.#askKernel(why, { kind: "kernel", because: move.because, scan, oomKills: this.#eyes.oomKills() }, sample);
    }
  }

  /** Scans, and tells what the kernel's killer did since the last time. */
  #lookAround(): CgroupScan | undefined {
    const { pods, journal } = this.#parts;
    const scan = this.#eyes.scan();
    if (scan === undefined) return undefined;
    if (this.#scan) journal.kernelKilled(findKernelKills(this.#scan, scan), pods.facts);
    this.#scan = scan;
    pods.saw(scan);
    return scan;
  }

  #kill(victim: Victim, { rule, because }: Short, before: MemorySample): void {
    const { hands, journal, dryRun, now, wallClock } = this.#parts;
    const { cgroup } = victim.container;
    const ended = hands.end(victim.container);
    switch (ended.kind) {
      case "gone before":
        this.#said.spared(`${describeContainer(victim)} went by itself: ${ended.because}`);
        // What is left of it, such as page cache, must not be chosen again and again.
        this.#strikes = [...this.#strikes, { atMs: now(), cgroup, gone: true, failed: true }];
        return;
      case "failed":
        journal.strikeFailed(ended.because);
        this.#strikes = [...this.#strikes, { atMs: now(), cgroup, gone: false, failed: true }];
        return;
      case "struck": {
        const { processes } = ended;
        const aim = { kind: "container", victim, processes } as const;
        this.#strikes = [...this.#strikes, { atMs: now(), cgroup, gone: dryRun }];
        this.#begin({ at: wallClock(), atMs: now(), rule, because, before, aim });
      }
    }
  }

  #askKernel({ rule, because }: Short, aim: Struck["aim"] & { kind: "kernel" }, before: MemorySample): void {
    const { hands, journal, dryRun, now, wallClock } = this.#parts;
    const asked = hands.askKernel();
    this.#strikes = [...this.#strikes, { atMs: now(), cgroup: undefined, gone: true }];
    const struck: Struck = { at: wallClock(), atMs: now(), rule, because, before, aim };
    if (asked.kind === "asked") this.#begin(struck);
    else if (dryRun) journal.strikeFailed(asked.because);
    else this.#report(struck, { kind: "nothing", because: `${aim.because}, and ${asked.because}` }, before);
  }

  #begin(struck: Struck): void {
    const { journal, dryRun } = this.#parts;
    journal.struck(struck, dryRun);
    if (!dryRun) this.#following = { struck, outcome: follow(struck) };
  }

  #report({ at, rule, because, before }: Struck, took: Took, after: MemorySample): void {
    const { nodeName, journal, tell } = this.#parts;
    const report: StrikeReport = { at, nodeName, rule, because, before, after, took };
    journal.reported(report);
    tell(report);
  }
}
