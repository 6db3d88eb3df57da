/**
 * A node, its dog and its Lease in one process, without timers: the agent's own state machine and driver run against a
 * dog that counts its pings and a Lease with versions, where a write that nobody answered may still be carried out.
 */
import { type Agent, createAgent } from "../../../../node-agent/fencing/agent.ts";
import type { DeviceProblem, WatchdogDevice } from "../../../../node-agent/fencing/device.ts";
import { step } from "../../../../node-agent/fencing/state-machine.ts";
import { viewOf } from "../../../../node-agent/fencing/tell-changes.ts";
import type { FencingRules } from "../../../../node-agent/fencing/wanted.ts";
import type { Claim, Command, ProtocolSettings, RenewalFailure, Step } from "../../../../node-agent/fencing/words.ts";
import { PAUSED_ANNOTATION } from "../../../../shared/domain/keys.ts";

export const G_MS = 10_000;

export const WATCHDOG: FencingRules = { mode: "watchdog", acceptNowayout: false, groups: [] };

export function settingsWith(rules: FencingRules = WATCHDOG): ProtocolSettings {
  return { rules, feedWithinMs: G_MS, renewEveryMs: 5_000, partingMs: 20_000, partingTries: 3 };
}

interface Write {
  readonly claim: Claim;
  readonly sentAtMs: number;
  readonly baseVersion: number;
}

export interface WorldOptions {
  readonly rules?: FencingRules;
  readonly step?: Step;
  /** How the API server takes writes: bound to the version that was read (as ours are), or whatever comes. */
  readonly writes?: "bound" | "unconditional";
}

export class World {
  nowMs = 1_000;
  readonly settings: ProtocolSettings;
  readonly dog = {
    running: false,
    held: false,
    timeoutSeconds: 60,
    nowayout: false,
    pingedAtMs: 0,
    openFails: undefined as DeviceProblem | undefined,
    feedFails: false,
  };
  readonly lease = { version: 1, armed: false, claims: [] as Claim[] };
  /** What was done, in order: `open`, `feed`, `disarm`, `abandon`, `claim watchdog armed`, `exit`. */
  done: string[] = [];
  reports: Extract<Command, { kind: "report" }>[] = [];
  /** What should never be seen. */
  readonly faults: string[] = [];
  inFlight: Write | undefined;
  late: Write[] = [];
  lastAccepted: Write | undefined;
  exited = false;
  agent: Agent;
  readonly #options: WorldOptions;

  constructor(options: WorldOptions = {}) {
    this.#options = options;
    this.settings = settingsWith(options.rules);
    this.agent = this.#newAgent();
  }

  get view() {
    return viewOf(this.agent.state, this.nowMs, this.settings);
  }

  /** Everything an agent learns at its start but the answer to its first renewal. */
  start({ crashes = 0, calmInMs = 0, annotations = {}, labels = {} } = {}): this {
    this.agent.happen({ kind: "crashes counted", crashes, calmInMs });
    this.look();
    this.readNode(annotations, labels);
    return this.tick();
  }

  tick(afterMs = 0): this {
    this.nowMs += afterMs;
    if (!this.exited) this.agent.happen({ kind: "ticked" });
    return this.#check();
  }

  /** Ticks each second, and every renewal is answered at once with yes. */
  pass(seconds: number): this {
    for (let second = 0; second < seconds; second += 1) {
      this.answer().tick(1_000).look();
    }
    return this.answer();
  }

  look(): this {
    if (!this.exited) this.agent.happen({ kind: "device seen", sight: this.#device.look() });
    return this;
  }

  readNode(annotations: Readonly<Record<string, string>> = {}, labels: Readonly<Record<string, string>> = {}): this {
    if (!this.exited) this.agent.happen({ kind: "node read", labels, annotations });
    return this.#check();
  }

  maintain(on = true): this {
    return this.readNode(on ? { [PAUSED_ANNOTATION]: "kernel update" } : {});
  }

  /** Answers what is in flight, and what follows from it, with yes. */
  answer(rounds = 10): this {
    for (let round = 0; round < rounds && this.inFlight !== undefined && !this.exited; round += 1) {
      const write = this.inFlight;
      this.inFlight = undefined;
      if (!this.#apply(write)) {
        this.agent.happen({ kind: "renewal failed", reason: "conflict", because: "HTTP 409" });
        break;
      }
      this.lastAccepted = write;
      this.agent.happen({ kind: "renewal accepted", sentAtMs: write.sentAtMs });
      this.#check();
    }
    return this;
  }

  /** @param fate `late`: nobody answers, and it is carried out some time; `applied`: nobody answers, but it was. */
  fail(reason: RenewalFailure, fate: "lost" | "late" | "applied" = "lost"): this {
    const write = this.inFlight;
    if (write === undefined || this.exited) return this;
    this.inFlight = undefined;
    if (fate === "late") this.late.push(write);
    if (fate === "applied") this.#apply(write);
    this.agent.happen({ kind: "renewal failed", reason, because: reason });
    return this.#check();
  }

  carryOutLateWrites(): this {
    for (const write of this.late.splice(0)) this.#apply(write);
    return this.#check();
  }

  terminate(): this {
    if (!this.exited) this.agent.happen({ kind: "termination asked" });
    return this.#check();
  }

  /** The process dies and the next one starts; the kernel's close pings once. */
  crash(): this {
    if (this.inFlight !== undefined) this.late.push(this.inFlight);
    if (this.dog.held && this.dog.running) this.dog.pingedAtMs = this.nowMs;
    this.dog.held = false;
    this.inFlight = undefined;
    this.lastAccepted = undefined;
    this.exited = false;
    this.agent = this.#newAgent();
    return this;
  }

  /** Whether the node was reset by now. */
  get isReset(): boolean {
    return this.dog.running && this.nowMs - this.dog.pingedAtMs > 1000 * this.dog.timeoutSeconds;
  }

  #newAgent(): Agent {
    return createAgent({
      step: this.#options.step ?? step,
      settings: this.settings,
      device: this.#device,
      nowMs: () => this.nowMs,
      renew: (claim) => {
        this.done.push(`claim ${claim.mode}${claim.armed ? " armed" : ""}`);
        if (this.inFlight !== undefined) this.faults.push("two renewals at a time");
        if (claim.armed && !this.dog.held) this.faults.push("armed was claimed without a dog");
        this.inFlight = { claim, sentAtMs: this.nowMs, baseVersion: this.lease.version };
        return new Promise(() => {});
      },
      report: (report) => this.reports.push(report),
      exit: () => {
        this.done.push("exit");
        this.exited = true;
      },
    });
  }

  readonly #device: WatchdogDevice = {
    look: () => {
      const { openFails, running, timeoutSeconds, nowayout } = this.dog;
      if (openFails === "missing") return { kind: "absent", problem: "missing", because: "no such file" };
      return { kind: "present", running, timeoutSeconds, nowayout };
    },
    open: ({ acceptNowayout }) => {
      const { dog } = this;
      this.done.push("open");
      if (this.lastAccepted === undefined) this.faults.push("the dog was opened before a renewal was accepted");
      if (dog.openFails !== undefined) return { kind: "refused", problem: dog.openFails, because: dog.openFails };
      if (dog.nowayout && !acceptNowayout) return { kind: "refused", problem: "nowayout", because: "nowayout" };
      if (!dog.running) dog.pingedAtMs = this.nowMs;
      dog.running = true;
      dog.held = true;
      return { kind: "opened", timeoutSeconds: dog.timeoutSeconds, nowayout: dog.nowayout };
    },
    feed: () => {
      this.done.push("feed");
      if (!this.dog.held) this.faults.push("a dog was fed that isn't held");
      const sentAtMs = this.lastAccepted?.sentAtMs ?? Number.NEGATIVE_INFINITY;
      if (this.lease.armed && this.nowMs - sentAtMs > G_MS) this.faults.push("an armed dog was fed on an old renewal");
      if (this.dog.feedFails) return "EIO";
      this.dog.pingedAtMs = this.nowMs;
      return undefined;
    },
    disarm: () => {
      this.done.push("disarm");
      if (this.lease.armed) this.faults.push("the dog was stopped while the Lease said armed");
      this.dog.held = false;
      this.dog.running &&= this.dog.nowayout;
      if (this.dog.running) this.dog.pingedAtMs = this.nowMs;
      return this.dog.running;
    },
    abandon: () => {
      this.done.push("abandon");
      this.dog.held = false;
      this.dog.pingedAtMs = this.nowMs;
    },
  };

  #apply(write: Write): boolean {
    const { lease } = this;
    if (this.#options.writes !== "unconditional" && write.baseVersion !== lease.version) return false;
    lease.version += 1;
    lease.armed = write.claim.armed;
    lease.claims.push(write.claim);
    return true;
  }

  #check(): this {
    if (this.lease.armed && !this.dog.running) this.faults.push("the Lease says armed and no dog runs");
    return this;
  }
}
