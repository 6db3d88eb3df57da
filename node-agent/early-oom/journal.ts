/**
 * What early-oom says: log lines where something changed, and the figures behind /metrics and /status. The hot loop
 * only writes numbers here.
 */
import type { Log } from "../log.ts";
import { Problems } from "../problems.ts";
import type { Posted } from "./act/post-events.ts";
import type { Figures } from "./figures.ts";
import type { Struck } from "./follow.ts";
import type { PodsAnswer } from "./observe/list-pods.ts";
import { describeStrike, type StrikeReport } from "./report.ts";
import type { FactsByPod, KernelKill, MemorySample, Shortage } from "./words.ts";

const WELL: Shortage = { kind: "fine", because: "no shortage since the start" };

export class Journal {
  readonly #log: Log;
  #sample: MemorySample | undefined;
  #shortage = WELL;
  #turns = 0;
  #turnedAtMs: number | undefined;
  readonly #late = { last: 0, most: 0, sum: 0 };
  readonly #kills = { userspace: 0, kernel: 0, "dry-run": 0 };
  #failedStrikes = 0;
  #lastKillAt: Date | undefined;
  #lastStrike: string | undefined;
  #kernelKills = 0;
  #droppedEvents = 0;
  readonly #problems: Problems;

  constructor(log: Log) {
    this.#log = log;
    this.#problems = new Problems(log);
  }

  get figures(): Figures {
    return {
      sample: this.#sample,
      shortage: this.#shortage,
      turns: this.#turns,
      turnedAtMs: this.#turnedAtMs,
      lateMs: { ...this.#late },
      kills: { ...this.#kills },
      failedStrikes: this.#failedStrikes,
      lastKillAt: this.#lastKillAt,
      lastStrike: this.#lastStrike,
      kernelKills: this.#kernelKills,
      droppedEvents: this.#droppedEvents,
      problems: this.#problems.all,
    };
  }

  looked(sample: MemorySample): void {
    this.#sample = sample;
  }

  /** @param lateMs by how much the turn began after its time. */
  turned(atMs: number, lateMs: number): void {
    this.#turns += 1;
    this.#turnedAtMs = atMs;
    this.#late.last = lateMs;
    this.#late.sum += lateMs;
    if (lateMs > this.#late.most) this.#late.most = lateMs;
    if (this.#problems.has("loop")) this.found("loop", []);
  }

  shortage(shortage: Shortage, { availableKib }: MemorySample): void {
    this.#shortage = shortage;
    const { because } = shortage;
    if (shortage.kind === "fine") this.#log("info", "memory is no longer short", { availableKib, because });
    else this.#log("warn", "memory is short", { rule: shortage.rule, availableKib, because });
  }

  /** Why a shortage was not answered by a strike. */
  spared(because: string): void {
    this.#log("info", "nobody was struck", { because });
  }

  /** Before its effect is known. */
  struck({ at, rule, because, before, aim }: Struck, dryRun: boolean): void {
    const mode = dryRun ? "dry-run" : aim.kind === "kernel" ? "kernel" : "userspace";
    this.#kills[mode] += 1;
    this.#lastKillAt = at;
    const facts = { mode, rule, because, availableKib: before.availableKib, ...factsOf(aim) };
    this.#log("warn", dryRun ? "strike left out in dry run" : "strike", facts);
  }

  /** A container that couldn't be struck: another way is tried next. */
  strikeFailed(because: string): void {
    this.#failedStrikes += 1;
    this.#log("error", "strike failed", { because });
  }

  /** After its effect is known. */
  reported(report: StrikeReport): void {
    const { took } = report;
    const isSuccess = took.kind === "container" ? took.ended : took.kind === "kernel" && took.processes > 0;
    const text = describeStrike(report);
    this.#lastStrike = `${report.at.toISOString()} ${text}`;
    if (isSuccess) {
      this.#log("warn", "strike took effect", { because: text });
      return;
    }
    this.#failedStrikes += 1;
    this.#log("error", "strike had no effect", { because: text });
  }

  kernelKilled(kills: readonly KernelKill[], facts: FactsByPod): void {
    for (const { podUid, containerId, processes } of kills) {
      this.#kernelKills += processes;
      const pod = facts.get(podUid);
      const name = pod && `${pod.namespace}/${pod.name}`;
      this.#log("warn", "the kernel killed processes of a container", { pod: name, podUid, containerId, processes });
    }
  }

  /** The problems there are with one thing; said when they change, and gone when the list is empty. */
  found(about: string | symbol, problems: readonly string[]): void {
    this.#problems.found(about, problems);
  }

  heardOfPods(answer: PodsAnswer): void {
    this.found("pods", answer.kind === "listed" ? [] : [answer.because]);
  }

  posted(posted: Posted): void {
    switch (posted.kind) {
      case "posted":
        this.found("events", []);
        this.#log("debug", "event posted", { event: posted.event });
        return;
      case "dropped":
        this.#droppedEvents += 1;
        this.#log("error", "event dropped", { event: posted.event, because: posted.because });
        return;
      case "delayed":
        this.found("events", [posted.because]);
    }
  }
}

function factsOf(aim: Struck["aim"]): Readonly<Record<string, unknown>> {
  if (aim.kind === "kernel") return { askedBecause: aim.because };
  const { victim, processes } = aim;
  return {
    pod: `${victim.pod.namespace}/${victim.pod.name}`,
    container: victim.containerName,
    cgroup: victim.container.cgroup,
    workingSetBytes: victim.container.workingSetBytes,
    requestBytes: victim.requestBytes,
    chosenBecause: victim.because,
    processes: processes.named,
    processCount: processes.count,
  };
}
