/** Starts runs of fence-node as the Scheduler and Lambda do: every minute, late, twice, not at all, stopped or killed. */

import type { Fact } from "../../../../functions/fence-node/facts.ts";
import { type FenceTools, Memory } from "../../../../functions/fence-node/tools.ts";
import type { Policy } from "../../../../shared/domain/policy.ts";
import type { Clock } from "../../../../shared/ports/clock.ts";
import { isClusterError } from "../../../../shared/ports/cluster.ts";
import type { Chance } from "./chance.ts";
import { type RunPortParts, runPorts } from "./cluster-port.ts";
import { START } from "./cluster-state.ts";
import { Gate } from "./gate.ts";
import type { Judge } from "./judge.ts";
import type { Timeline } from "./timeline.ts";

export type Story = (tools: FenceTools) => Promise<void>;

export interface SchedulerParts extends Omit<RunPortParts, "gate" | "timeBudget"> {
  readonly timeline: Timeline;
  readonly chance: Chance;
  readonly judge: Judge;
  readonly policy: Policy;
  readonly story: Story;
}

const EVERY_MS = 60_000;
/** A run of 58 s gives up what is unanswered 1.5 s before its end. */
const BUDGET_MS = 56_500;
const TIMEOUT_MS = 58_000;
/** How far the clocks of two runs may be apart. */
const CLOCK_ERROR_MS = 500;

export class Scheduler {
  readonly #parts: SchedulerParts;
  readonly #gates = new Set<Gate>();
  /** Of a process that is free. */
  readonly #memories: Memory[] = [];
  #stops = 0;
  missed = 0;
  /** What the story threw, which it never should. */
  readonly errors: unknown[] = [];

  constructor(parts: SchedulerParts) {
    this.#parts = parts;
  }

  begin(): void {
    const { timeline, chance } = this.#parts;
    timeline.after(chance.between(0, EVERY_MS), () => this.#minute());
  }

  #minute(): void {
    const { timeline, chance } = this.#parts;
    const late = chance.happens(0.05) ? chance.between(0, 55_000) : chance.between(0, 1_500);
    if (this.missed === 0) timeline.after(late, () => this.run());
    timeline.after(EVERY_MS, () => this.#minute());
  }

  run(): void {
    const { timeline, chance, judge, policy, story } = this.#parts;
    judge.counts.runs += 1;
    const gate = new Gate(chance);
    for (let stops = 0; stops < this.#stops; stops++) gate.stop();
    this.#gates.add(gate);
    const memory = this.#memories.pop() ?? new Memory();
    const offsetMs = chance.between(-CLOCK_ERROR_MS, CLOCK_ERROR_MS);
    const now = () => new Date(START.getTime() + timeline.nowMs + offsetMs);
    const budget = new AbortController();
    timeline.after(BUDGET_MS, () => gate.run(() => budget.abort(new Error("the invocation's time is over"))));
    timeline.after(TIMEOUT_MS, () => this.#end(gate));
    const tools: FenceTools = {
      ...runPorts({ ...this.#parts, gate, timeBudget: budget.signal }),
      ...{ policy, memory, holder: `run ${judge.counts.runs}`, timeBudget: budget.signal },
      clock: { now, sleep: (ms, signal) => this.#sleep(ms, gate, signal) },
      endsAt: new Date(now().getTime() + BUDGET_MS),
      note: (fact) => this.#note(fact),
    };
    timeline.movePromises();
    story(tools)
      .catch((error: unknown) => {
        if (!budget.signal.aborted) this.errors.push(error);
      })
      .finally(() => {
        if (!gate.isEnded) this.#memories.push(memory);
        this.#end(gate);
      });
  }

  stop(): void {
    this.#stops += 1;
    for (const gate of this.#gates) gate.stop();
  }

  go(): void {
    this.#stops -= 1;
    for (const gate of this.#gates) gate.go();
  }

  /** Nothing that they asked for comes back; what was asked for may be carried out. */
  kill(): void {
    for (const gate of this.#gates) this.#end(gate);
  }

  #end(gate: Gate): void {
    gate.end();
    this.#gates.delete(gate);
  }

  readonly #sleep = (ms: number, gate: Gate, signal?: AbortSignal): ReturnType<Clock["sleep"]> => {
    const { timeline } = this.#parts;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    signal?.throwIfAborted();
    const giveUp = () => {
      timeline.movePromises();
      reject(new Error("the invocation's time is over"));
    };
    signal?.addEventListener("abort", giveUp, { once: true });
    // The short pauses between two tries are partly chance of the real kind.
    timeline.after(ms < 5_000 ? 200 : ms, () =>
      gate.run(() => {
        signal?.removeEventListener("abort", giveUp);
        timeline.movePromises();
        resolve();
      }),
    );
    return promise;
  };

  #note(fact: Fact): void {
    const { judge } = this.#parts;
    const { counts } = judge;
    if (fact.kind === "fenced") counts[`fenced by ${fact.proof}`] += 1;
    if (fact.kind === "decided" && fact.decision === "report") counts.reported += 1;
    if (fact.kind === "decided" && fact.decision === "hold-brake") counts["held by a brake"] += 1;
    if (fact.kind === "step-failed" && !isClusterError(fact.error)) this.errors.push(fact.error);
    if (fact.kind === "decided") judge.say(`${fact.nodeName}: ${fact.decision}: ${fact.because}`);
  }
}
