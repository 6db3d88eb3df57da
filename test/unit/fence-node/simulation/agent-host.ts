/**
 * Runs the shipped agent on a machine: its state machine, its driver and its lease book, with the kubelet's restarts and
 * the crash file around them. It can be killed, stopped for any time, also right before it writes to the dog.
 */

import type { ApiAnswer, ApiRequest } from "../../../../node-agent/api-server.ts";
import { type Agent, createAgent } from "../../../../node-agent/fencing/agent.ts";
import { CRASH_WINDOW_SECONDS } from "../../../../node-agent/fencing/crashes.ts";
import { fieldsOf, textOf, textsOf } from "../../../../node-agent/fencing/fields.ts";
import { createLeaseBook } from "../../../../node-agent/fencing/lease-book.ts";
import type { Claim, ProtocolSettings, State, Step } from "../../../../node-agent/fencing/words.ts";
import { FENCING_ANNOTATION } from "../../../../shared/domain/fencing-lease.ts";
import type { Chance } from "./chance.ts";
import type { ClusterState, StoredLease } from "./cluster-state.ts";
import { Gate } from "./gate.ts";
import type { Link } from "./link.ts";
import type { Machine } from "./machine.ts";
import type { Timeline } from "./timeline.ts";

export interface AgentHostParts {
  readonly name: string;
  readonly timeline: Timeline;
  readonly chance: Chance;
  readonly machine: Machine;
  readonly link: Link;
  readonly state: ClusterState;
  readonly step: Step;
  readonly settings: ProtocolSettings;
  /** Of the kubelet, without which no container is started. */
  readonly kubeletGate: () => Gate;
  readonly wallClock: () => Date;
  /** The API server took a write of its Lease. */
  readonly onRenewal: () => void;
  /** Whether each tick is sent, also those from which nothing can follow. */
  readonly isDense: boolean;
}

const TICK_MS = 1_000;
const LOOK_EVERY_MS = 5_000;
const READ_NODE_EVERY_MS = 15_000;
const REQUEST_MS = 5_000;
/** https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/#restart-policy */
const BACK_OFF_SECONDS = [0, 10, 20, 40, 80, 160];
/** After SIGTERM, before SIGKILL. */
const GRACE_MS = 30_000;

interface Process {
  readonly id: string;
  readonly gate: Gate;
  readonly agent: Agent;
  readonly startedAtMs: number;
  /** Of the tick that is awaited. */
  tickAtMs: number;
}

export class AgentHost {
  readonly #parts: AgentHostParts;
  #process: Process | undefined;
  #starts: { atMs: number; endedCleanly: boolean }[] = [];
  #stalls = 0;
  #feedStalls = 0;
  #heldPing: (() => void) | undefined;
  #restarts = 0;
  #processes = 0;
  /** Answers of the API server say 403 to this agent. */
  isForbidden = 0;

  constructor(parts: AgentHostParts) {
    this.#parts = parts;
  }

  /** By the kubelet, after its back-off. */
  start(): void {
    const { machine, chance, timeline, kubeletGate } = this.#parts;
    const delay = 1000 * (BACK_OFF_SECONDS[Math.min(this.#restarts, BACK_OFF_SECONDS.length - 1)] ?? 0);
    const { bootId } = machine;
    timeline.after(delay + chance.between(500, 3_000), () =>
      kubeletGate().run(() => {
        if (machine.isOn && machine.bootId === bootId && this.#process === undefined) this.#begin();
      }),
    );
  }

  /** SIGKILL, or a fault of the process: the kernel closes what it held. */
  crash(): void {
    if (this.#process === undefined || this.#parts.machine.isPaused) return;
    this.#restarts += 1;
    this.#bury();
    this.#parts.machine.closeForTheDead();
    this.start();
  }

  /** As in a roll-out: SIGTERM, then SIGKILL, then a new pod, whose back-off begins anew. */
  replace(): void {
    const process = this.#process;
    if (process === undefined) return;
    this.#happen(process, { kind: "termination asked" });
    this.#parts.timeline.after(GRACE_MS, () => {
      if (this.#process === process) this.crash();
    });
  }

  machineDied(): void {
    this.#bury();
    this.#starts = [];
    this.#restarts = 0;
  }

  stall(): void {
    this.#stalls += 1;
    this.#process?.gate.stop();
  }

  wake(): void {
    this.#stalls -= 1;
    this.#process?.gate.go();
  }

  /** The next write to the dog will take until `releaseFeeds`. */
  stallFeeds(): void {
    this.#feedStalls += 1;
  }

  releaseFeeds(): void {
    this.#feedStalls -= 1;
    const ping = this.#heldPing;
    this.#heldPing = undefined;
    if (ping === undefined) return;
    ping();
    this.#process?.gate.go();
  }

  #bury(): void {
    this.#process?.gate.end();
    this.#process = undefined;
    this.#heldPing = undefined;
  }

  #begin(): void {
    const { machine, chance, settings, step, name } = this.#parts;
    const gate = new Gate(chance, machine.gate);
    for (let stalls = 0; stalls < this.#stalls; stalls++) gate.stop();
    const nowMs = () => machine.nowMs;
    const id = `${name}/${++this.#processes}`;
    const call = (asked: ApiRequest) => this.#call(asked, process);
    const leases = createLeaseBook({
      api: { call },
      nodeName: name,
      nodeUid: () => undefined,
      timeoutMs: REQUEST_MS,
      nowMs,
    });
    const device = machine.device(() => this.#feed(process));
    const agent = createAgent({
      ...{ step, settings, device, nowMs },
      renew: (claim) => leases.renew(statementOf(claim, { bootId: machine.bootId, agent: id, settings })),
      report: () => {},
      exit: () => this.#exit(process),
    });
    const process: Process = { id, gate, agent, startedAtMs: nowMs(), tickAtMs: Number.POSITIVE_INFINITY };
    this.#process = process;
    const crashes = this.#noteStart();
    gate.run(() => {
      this.#happen(process, { kind: "crashes counted", ...crashes });
      this.#happen(process, { kind: "device seen", sight: device.look() });
      this.#every(process, LOOK_EVERY_MS, () => this.#look(process, device.look()));
      this.#readNode(process, () => this.#happen(process, { kind: "ticked" }));
    });
  }

  #exit(process: Process): void {
    const last = this.#starts.at(-1);
    if (last) last.endedCleanly = true;
    if (this.#process === process) this.#process = undefined;
    process.gate.end();
    this.#restarts = 0;
    this.start();
  }

  #feed(process: Process): void {
    const { machine } = this.#parts;
    if (this.#feedStalls === 0) {
      machine.ping();
      return;
    }
    process.gate.stop();
    this.#heldPing = () => machine.ping();
  }

  /** As the crash file counts: a process crashed at the latest when the next one began. */
  #noteStart(): { crashes: number; calmInMs: number } {
    const now = this.#parts.machine.nowMs;
    const window = 1000 * CRASH_WINDOW_SECONDS;
    const crashes = this.#starts.flatMap(({ endedCleanly }, index) =>
      endedCleanly ? [] : [this.#starts[index + 1]?.atMs ?? now],
    );
    this.#starts.push({ atMs: now, endedCleanly: false });
    const recent = crashes.filter((atMs) => now - atMs < window);
    return { crashes: recent.length, calmInMs: window - (now - (recent.at(-1) ?? now - window)) };
  }

  #happen(process: Process, happening: Parameters<Agent["happen"]>[0]): void {
    process.gate.run(() => {
      process.agent.happen(happening);
      this.#awaitTick(process);
    });
  }

  /** What says the same as before is left out: nothing follows from it. */
  #look(process: Process, sight: ReturnType<ReturnType<Machine["device"]>["look"]>): void {
    const { sight: before } = process.agent.state;
    const isSame = before?.kind === "present" && sight.kind === "present" && before.running === sight.running;
    const { dog } = process.agent.state;
    const isDoubtful = dog.kind === "held" && sight.kind === "present" && !sight.running;
    if (!isSame || isDoubtful || this.#parts.isDense) this.#happen(process, { kind: "device seen", sight });
  }

  #every(process: Process, ms: number, deed: () => void): void {
    this.#parts.timeline.after(ms, () =>
      process.gate.run(() => {
        deed();
        this.#every(process, ms, deed);
      }),
    );
  }

  #readNode(process: Process, first?: () => void): void {
    const { link, state, name, timeline } = this.#parts;
    link.send({
      ...{ isWrite: false, timeoutMs: REQUEST_MS, gate: process.gate },
      handle: () => state.nodes.get(name),
      deliver: (outcome) => {
        if (outcome.kind === "answered" && outcome.answer) {
          const { labels, annotations } = outcome.answer;
          this.#happen(process, { kind: "node read", labels, annotations });
        } else this.#happen(process, { kind: "node unread", because: outcome.kind });
        first?.();
        timeline.after(READ_NODE_EVERY_MS, () => process.gate.run(() => this.#readNode(process)));
      },
    });
  }

  /** The next tick from which anything can follow. The others change nothing, which is tested. */
  #awaitTick(process: Process): void {
    const { timeline, machine, isDense } = this.#parts;
    const { nowMs } = machine;
    const next = isDense ? nowMs + 1 : dueAfter(process.agent.state, nowMs);
    if (!Number.isFinite(next)) return;
    const ticks = Math.ceil((next - process.startedAtMs) / TICK_MS);
    const tickAtMs = process.startedAtMs + ticks * TICK_MS;
    if (process.tickAtMs > nowMs && process.tickAtMs <= tickAtMs) return;
    process.tickAtMs = tickAtMs;
    const fire = () => {
      if (process.tickAtMs !== tickAtMs) return;
      process.tickAtMs = 0;
      this.#happen(process, { kind: "ticked" });
    };
    timeline.after(machine.untilMs(tickAtMs) + 0.01, () => process.gate.run(fire));
  }

  #call({ method, path, body, timeoutMs }: ApiRequest, process: Process): Promise<ApiAnswer> {
    const { link, timeline } = this.#parts;
    const { promise, resolve } = Promise.withResolvers<ApiAnswer>();
    process.gate.run(() =>
      link.send<ApiAnswer>({
        ...{ isWrite: method !== "GET", timeoutMs, gate: process.gate },
        handle: () => this.#answer(method, body),
        deliver: (outcome) => {
          timeline.movePromises(() => this.#awaitTick(process));
          if (outcome.kind === "answered") resolve(outcome.answer);
          else if (outcome.kind === "failed") resolve({ kind: "answered", status: 503, body: "" });
          else resolve(outcome);
        },
      }),
    );
    if (!path.includes("/leases")) throw new Error(`nobody serves ${path}`);
    return promise;
  }

  /** The API server on Leases. */
  #answer(method: ApiRequest["method"], body: unknown): ApiAnswer {
    const { state, name, wallClock, onRenewal } = this.#parts;
    const status = (code: number): ApiAnswer => ({ kind: "answered", status: code, body: "" });
    if (this.isForbidden > 0) return status(403);
    if (method === "GET") {
      const lease = state.agentLeases.get(name);
      return lease ? shown(200, lease) : status(404);
    }
    const metadata = fieldsOf(fieldsOf(body).metadata);
    const [uid, resourceVersion] = [textOf(metadata.uid), textOf(metadata.resourceVersion)];
    const base = uid !== undefined && resourceVersion !== undefined ? { uid, resourceVersion } : undefined;
    const statement = textsOf(metadata.annotations)[FENCING_ANNOTATION] ?? "";
    const lease = state.writeAgentLease({ name, statement, renewTime: wallClock(), base });
    if (lease) onRenewal();
    return lease ? shown(method === "POST" ? 201 : 200, lease) : status(409);
  }
}

/** Monotonic time from which on a tick may change something, if nothing else happens before. */
export function dueAfter({ renewAtMs, retryAtMs, feedAtMs, crashes, leaving }: State, nowMs: number): number {
  const calmAtMs = crashes.kind === "counted" ? crashes.calmAtMs : 0;
  const all = [renewAtMs, retryAtMs, feedAtMs, calmAtMs, leaving?.untilMs ?? 0];
  return Math.min(...all.filter((atMs) => atMs > nowMs));
}

function shown(status: number, { uid, resourceVersion, annotations }: StoredLease): ApiAnswer {
  const metadata = { uid, resourceVersion, labels: {}, annotations };
  return { kind: "answered", status, body: JSON.stringify({ metadata }) };
}

interface Speaker {
  readonly bootId: string;
  readonly agent: string;
  readonly settings: ProtocolSettings;
}

function statementOf({ mode, armed, sequence, watchdogTimeoutSeconds }: Claim, { bootId, agent, settings }: Speaker) {
  return {
    v: 1,
    ...{ mode, bootId },
    ...(watchdogTimeoutSeconds !== undefined && { watchdogTimeoutSeconds }),
    feedWithinSeconds: settings.feedWithinMs / 1000,
    ...{ armed, agent, sequence },
  } as const;
}
