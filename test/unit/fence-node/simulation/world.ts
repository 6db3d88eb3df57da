/** A cluster, its cloud and the two programs that fence, put together and lived through one history. */
import { fenceNodes } from "../../../../functions/fence-node/fence-node.ts";
import { step as shippedStep } from "../../../../node-agent/fencing/state-machine.ts";
import type { Step } from "../../../../node-agent/fencing/words.ts";
import type { ClusterNode } from "../../../../shared/domain/node.ts";
import type { Policy } from "../../../../shared/domain/policy.ts";
import { aPolicy } from "../../../builders/a-policy.ts";
import { Chance } from "./chance.ts";
import { ClusterState, nodeObject, START } from "./cluster-state.ts";
import type { History, Setup } from "./histories.ts";
import { Judge } from "./judge.ts";
import { type ApiTroubles, Link, noLinkTroubles } from "./link.ts";
import { calmAfter, endOf, plan } from "./plan.ts";
import { Scheduler, type Story } from "./scheduler.ts";
import { SimNode } from "./sim-node.ts";
import { Timeline } from "./timeline.ts";

/** What a wrong variant puts in the place of the shipped parts. */
export interface Shipped {
  readonly step: Step;
  readonly story: Story;
  readonly fencing: Partial<Policy["default"]["fencing"]>;
  /** Whether agents tick each second, also where nothing can follow. */
  readonly isDense: boolean;
}

export const SHIPPED: Shipped = { step: shippedStep, story: fenceNodes, fencing: {}, isDense: false };

const SUSPECT_AFTER_SECONDS = 60;
/** What belongs to a step is done by then, or was given up. */
const AFTER_A_STEP_MS = 10_000;
const CONTROLLER_GRACE_MS = 45_000;

export class World {
  readonly timeline = new Timeline();
  readonly state = new ClusterState();
  readonly judge = new Judge(this.timeline, SUSPECT_AFTER_SECONDS);
  readonly api: ApiTroubles = { isAway: 0, fails: 0, writesFail: 0 };
  readonly cloud = { isAway: 0 };
  readonly runLink = noLinkTroubles();
  readonly nodes: readonly SimNode[];
  readonly scheduler: Scheduler;
  readonly chance: Chance;
  readonly history: History;
  controllerAway = 0;
  #cached: readonly ClusterNode[] = [];

  constructor(history: History, shipped: Shipped = SHIPPED) {
    const { setup } = history;
    const { timeline, state, judge, api, cloud, runLink } = this;
    this.history = history;
    this.chance = new Chance(setup.seed);
    const { chance } = this;
    this.nodes = Array.from({ length: setup.nodes }, (_, index) => {
      return new SimNode({ index, setup, timeline, chance, state, judge, api, ...shipped });
    });
    this.scheduler = new Scheduler({
      ...{ timeline, chance, state, judge, cloud, story: shipped.story },
      link: new Link({ timeline, chance, api, troubles: runLink }),
      policy: policyOf(setup, shipped),
      cachedNodes: () => this.#cached,
      instances: () => this.nodes.flatMap(({ instances }) => instances),
      nameOfInstance: (id) => this.nodes.find(({ instances }) => instances.some((one) => one.id === id))?.name,
    });
  }

  /** @param endMs when to stop in any case. */
  async live(endMs = endOf(this.history)): Promise<this> {
    for (const node of this.nodes) node.machine.boot();
    this.#tendBystanders();
    this.#controlNodes();
    this.scheduler.begin();
    plan(this.history, this);
    const calmMs = calmAfter(this.history);
    await this.timeline.runTo(endMs, () => this.judge.faults.length > 0 || this.#isOver(calmMs));
    return this;
  }

  /** Nothing can follow any more: every node is gone, or the troubles are over and it is well. */
  #isOver(calmMs: number): boolean {
    const { timeline, nodes, state, judge } = this;
    if (timeline.nowMs - judge.steppedAtMs < AFTER_A_STEP_MS) return false;
    const isWell = (node: SimNode) =>
      timeline.nowMs > calmMs &&
      timeline.nowMs - node.heardAtMs < 11_000 &&
      node.machine.isOn &&
      !node.machine.isPaused;
    return nodes.every((node) => isWell(node) || (!state.nodes.has(node.name) && !node.machine.isOn));
  }

  /** Healthy nodes, which brakes count: they renew as long as the API server takes it. */
  #tendBystanders(): void {
    const { state, api, timeline } = this;
    const now = new Date(START.getTime() + timeline.nowMs);
    for (let index = 0; index < this.history.setup.bystanders; index++) {
      const name = `bystander-${index}`;
      if (!state.nodes.has(name)) state.putNode(nodeObject(name, `i-1${String(index).padStart(16, "0")}`, "boot-1"));
      if (api.isAway + api.fails + api.writesFail === 0) state.writeKubeletLease(name, now);
    }
    timeline.after(10_000, () => this.#tendBystanders());
  }

  /** The node controller: Unknown when a kubelet's Lease stands still. And the cache of the API server, which lags. */
  #controlNodes(): void {
    const { state, timeline, api } = this;
    const canWrite = api.isAway + api.fails + api.writesFail + this.controllerAway === 0;
    for (const { name, heardAtMs } of this.nodes) {
      const isSilent = timeline.nowMs - heardAtMs > CONTROLLER_GRACE_MS;
      if (canWrite && isSilent && state.nodes.get(name)?.ready === "True") state.changeNode(name, { ready: "Unknown" });
    }
    this.#cached = [...state.nodes.values()];
    timeline.after(5_000, () => this.#controlNodes());
  }
}

const policies = new Map<string, Policy>();

function policyOf({ proof, bound, stop }: Setup, { fencing }: Shipped): Policy {
  const changed = { enabled: true, suspectAfterSeconds: SUSPECT_AFTER_SECONDS, proof, bound, stop, ...fencing };
  const key = JSON.stringify(changed);
  const policy = policies.get(key) ?? aPolicy({ default: { fencing: changed } });
  policies.set(key, policy);
  return policy;
}
