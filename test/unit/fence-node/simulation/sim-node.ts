/** One node of the simulation: its machine, kubelet and agent, and the instances that it was, one after the other. */
import type { Step } from "../../../../node-agent/fencing/words.ts";
import { AgentHost } from "./agent-host.ts";
import type { Chance } from "./chance.ts";
import { SimInstance } from "./cloud.ts";
import { type ClusterState, nodeObject, START } from "./cluster-state.ts";
import type { Setup } from "./histories.ts";
import type { Judge } from "./judge.ts";
import { Kubelet } from "./kubelet.ts";
import { type ApiTroubles, Link, noLinkTroubles } from "./link.ts";
import { Machine } from "./machine.ts";
import type { Timeline } from "./timeline.ts";

export interface SimNodeParts {
  readonly index: number;
  readonly setup: Setup;
  readonly timeline: Timeline;
  readonly chance: Chance;
  readonly state: ClusterState;
  readonly judge: Judge;
  readonly api: ApiTroubles;
  readonly step: Step;
  readonly isDense: boolean;
}

export const WATCHDOG_SECONDS = 60;
const STATIC_LABELS = { "node.deckhouse.io/type": "Static" };

export class SimNode {
  readonly name: string;
  readonly machine: Machine;
  readonly kubelet: Kubelet;
  readonly agent: AgentHost;
  readonly link = noLinkTroubles();
  /** The present one is the last. */
  readonly instances: SimInstance[] = [];
  /** When the API server last took a write of its kubelet. */
  heardAtMs = 0;
  readonly #parts: SimNodeParts;

  constructor(parts: SimNodeParts) {
    this.#parts = parts;
    const { index, setup, timeline, chance, state, judge, api, step, isDense } = parts;
    this.name = `node-${index}`;
    const { name } = this;
    this.machine = new Machine({
      ...{ timeline, chance, clockRate: setup.clockRate, nowayout: setup.nowayout },
      watchdogTimeoutSeconds: WATCHDOG_SECONDS,
      onBoot: () => this.kubelet.boot(),
      onDeath: (cause) => this.#died(cause),
    });
    const { machine } = this;
    this.#addInstance();
    const link = new Link({ timeline, chance, api, troubles: this.link });
    const wallClock = () => new Date(START.getTime() + timeline.nowMs + machine.wallOffsetMs);
    this.kubelet = new Kubelet({
      ...{ name, timeline, chance, machine, link, state, wallClock },
      register: () => this.#register(),
      onRenewal: () => {
        this.heardAtMs = timeline.nowMs;
        judge.renewed(name);
      },
      onPodsStart: () => {
        judge.lives(name);
        if (setup.mode !== undefined) this.agent.start();
      },
    });
    this.agent = new AgentHost({
      ...{ name, timeline, chance, machine, link, state, step, wallClock, isDense },
      kubeletGate: () => this.kubelet.gate,
      onRenewal: () => judge.renewed(name),
      settings: {
        rules: { mode: setup.mode ?? "notify", acceptNowayout: setup.nowayout, groups: [] },
        ...{ feedWithinMs: 10_000, renewEveryMs: 5_000, partingMs: 20_000, partingTries: 3 },
      },
    });
    this.#register();
    state.podsOn.add(name);
  }

  get instance(): SimInstance | undefined {
    return this.instances.at(-1);
  }

  /** The old machine is gone for good, and another joins under its name. */
  remake(): void {
    const { timeline, chance, state, judge } = this.#parts;
    this.instance?.end("terminate");
    this.machine.die("power");
    if (state.nodes.has(this.name)) state.removeNode(this.name);
    judge.say(`${this.name}: made anew`);
    this.#addInstance();
    const { instance } = this;
    timeline.after(chance.between(15_000, 60_000), () => {
      if (this.instance === instance && instance?.state === "running") this.machine.boot();
    });
  }

  #addInstance(): void {
    const { setup, timeline, chance, index } = this.#parts;
    const { isSpot, isOfGroup } = setup;
    const id = `i-${index}${this.instances.length}${"0".repeat(15)}`;
    this.instances.push(new SimInstance({ id, timeline, chance, machine: this.machine, isSpot, isOfGroup }));
  }

  #register(): void {
    const { state, setup } = this.#parts;
    if (state.nodes.has(this.name)) return;
    const node = nodeObject(this.name, this.instance?.id ?? "", this.machine.bootId);
    state.putNode(setup.isStatic ? { ...node, labels: STATIC_LABELS } : node);
  }

  #died(cause: "dog" | "power"): void {
    const { judge, timeline, chance } = this.#parts;
    this.agent.machineDied();
    if (judge.isAlive(this.name)) judge.died(this.name, cause);
    if (cause !== "dog") return;
    judge.counts["reset by the dog"] += 1;
    // Some don't come back from a reset by themselves.
    if (chance.happens(0.3)) return;
    timeline.after(chance.between(20_000, 120_000), () => {
      if (this.instance?.state === "running") this.machine.boot();
    });
  }
}
