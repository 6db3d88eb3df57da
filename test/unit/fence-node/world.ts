/** A cluster in memory whose nodes renew their Leases, and runs of fence-node on it: time passes with the runs' own sleeps. */
import type { Fact } from "../../../functions/fence-node/facts.ts";
import { fenceNodes } from "../../../functions/fence-node/fence-node.ts";
import { type FenceTools, Memory } from "../../../functions/fence-node/tools.ts";
import {
  FENCING_ANNOTATION,
  FENCING_LEASE_NAMESPACE,
  type FencingStatement,
} from "../../../shared/domain/fencing-lease.ts";
import type { FencingPolicy } from "../../../shared/domain/fencing-policy.ts";
import { KUBELET_LEASE_NAMESPACE } from "../../../shared/domain/keys.ts";
import type { ClusterNode } from "../../../shared/domain/node.ts";
import type { Policy } from "../../../shared/domain/policy.ts";
import { providerIdOf } from "../../builders/a-node.ts";
import { aPolicy } from "../../builders/a-policy.ts";
import { FakeInstances } from "../../fakes/fake-instances.ts";
import { HeldClock } from "../../fakes/held-clock.ts";
import { ClusterModel } from "../../fakes/kube-api/cluster-model.ts";
import { memoryFencingCluster } from "../../fakes/memory-cluster.ts";

export const START = new Date("2026-01-01T12:00:00Z");
export const idOf = (index: number) => `i-${String(index).padStart(17, "0")}`;

/** As Kubernetes' node controller does by default. */
const UNKNOWN_AFTER_MS = 50_000;
const AGENT_MS = 5_000;
const KUBELET_MS = 10_000;
const RUN_EVERY_MS = 60_000;
const RUN_MS = 56_500;

type Part = "agent" | "kubelet";

interface Given {
  readonly nodes?: number;
  readonly fencing?: Partial<FencingPolicy>;
  readonly policy?: Policy;
  /** What agents say; undefined: there are none. */
  readonly says?: Partial<FencingStatement> | undefined;
  readonly node?: Partial<ClusterNode>;
  /** Whether an instance that is asked to end does. */
  readonly endsAtOnce?: boolean;
}

/** Nodes `node-1`… with an agent in mode `local`, two pods and a volume each. */
export function aWorld(given: Given = {}) {
  const { nodes = 5, fencing = {}, says = { mode: "local" }, endsAtOnce = true } = given;
  const clock = new TickingClock(START);
  const model = new ClusterModel({ clock });
  const instances = new FakeInstances({ endsAtOnce });
  const lives = new Lives({ clock, model, says: "says" in given && given.says === undefined ? undefined : says });
  for (let n = 1; n <= nodes; n++) {
    const name = `node-${n}`;
    model.addNode({ name, providerId: providerIdOf(idOf(n)), labels: {}, ...given.node });
    instances.put({ id: idOf(n) });
    model.addPod({ name: `web-${n}`, nodeName: name });
    model.addPod({
      name: `db-${n}`,
      nodeName: name,
      controller: { apiVersion: "apps/v1", kind: "StatefulSet", name: "db" },
    });
    model.addPod({
      name: `logs-${n}`,
      nodeName: name,
      controller: { apiVersion: "apps/v1", kind: "DaemonSet", name: "logs" },
    });
    model.attachments.put({ namespace: "", name: `attachment-${n}`, nodeName: name, persistentVolume: `data-${n}` });
  }
  clock.onTick = () => lives.renew();
  lives.renew();
  const cluster = memoryFencingCluster(model);
  const facts: Fact[] = [];
  const tools = {
    cluster,
    instances,
    clock,
    policy: given.policy ?? aPolicy({ default: { fencing: { enabled: true, ...fencing } } }),
    note: (fact: Fact) => facts.push(fact),
    memory: new Memory(),
    holder: "run-1",
    timeBudget: new AbortController().signal,
  };
  return { clock, model, cluster, instances, lives, facts, tools };
}

export type World = ReturnType<typeof aWorld>;

/** Runs fence-node every minute for so many seconds; always to the end of the last run. */
export async function runFor(
  { clock, tools }: Pick<World, "clock" | "tools">,
  seconds: number,
  changed: Partial<FenceTools> = {},
): Promise<void> {
  const end = clock.now().getTime() + seconds * 1000;
  while (clock.now().getTime() < end) {
    const startedAt = clock.now().getTime();
    await fenceNodes({ ...tools, ...changed, endsAt: new Date(startedAt + RUN_MS) });
    clock.advance(Math.max(0, startedAt + RUN_EVERY_MS - clock.now().getTime()));
  }
}

/** A run that has time for one look only. */
export async function runOnePass({ clock, tools }: World, changed: Partial<FenceTools> = {}): Promise<void> {
  await fenceNodes({ ...tools, ...changed, endsAt: clock.now() });
}

/** A held clock in which the world goes on, second by second. */
class TickingClock extends HeldClock {
  onTick: () => void = () => {};

  override advance(ms: number): void {
    for (let left = ms; left > 0; left -= 1000) {
      super.advance(Math.min(left, 1000));
      this.onTick();
    }
  }
}

interface LivesParts {
  readonly clock: HeldClock;
  readonly model: ClusterModel;
  readonly says: Partial<FencingStatement> | undefined;
}

/** Kubelets and agents, which renew while they live, and the node controller, which notices when they don't. */
class Lives {
  readonly #parts: LivesParts;
  readonly #silenced = new Map<string, Set<Part>>();
  readonly #renewedAt = new Map<string, number>();
  #sequence = 0;
  /** For everybody: the API server is away. */
  isAway = false;

  constructor(parts: LivesParts) {
    this.#parts = parts;
  }

  /** From now on nothing of these is heard. */
  silence(nodeName: string, parts: readonly Part[] = ["agent", "kubelet"]): void {
    this.#silenced.set(nodeName, new Set(parts));
  }

  comeBack(nodeName: string): void {
    this.#silenced.delete(nodeName);
  }

  renew(): void {
    const { clock, model, says } = this.#parts;
    if (this.isAway) return;
    for (const { name, bootId } of model.nodes()) {
      const silenced = this.#silenced.get(name);
      if (says && !silenced?.has("agent") && this.#isDue(name, "agent", AGENT_MS)) {
        const statement = {
          v: 1,
          mode: "local",
          bootId,
          feedWithinSeconds: 10,
          armed: false,
          agent: "agent-1",
          ...says,
        };
        const text = JSON.stringify({ ...statement, sequence: ++this.#sequence });
        const annotations = { [FENCING_ANNOTATION]: text };
        model.leases.put({ namespace: FENCING_LEASE_NAMESPACE, name, renewTime: clock.now(), annotations });
      }
      if (!silenced?.has("kubelet") && this.#isDue(name, "kubelet", KUBELET_MS)) {
        model.leases.put({ namespace: KUBELET_LEASE_NAMESPACE, name, renewTime: clock.now(), annotations: {} });
        model.setReady(name, "True");
      }
      const heardAt = this.#renewedAt.get(`${name}/kubelet`) ?? 0;
      if (clock.now().getTime() - heardAt > UNKNOWN_AFTER_MS) model.setReady(name, "Unknown");
    }
  }

  #isDue(name: string, part: Part, everyMs: number): boolean {
    const now = this.#parts.clock.now().getTime();
    const key = `${name}/${part}`;
    if (now - (this.#renewedAt.get(key) ?? 0) < everyMs) return false;
    this.#renewedAt.set(key, now);
    return true;
  }
}

export const podsOn = (model: ClusterModel, nodeName: string) =>
  model
    .pods()
    .filter((pod) => pod.nodeName === nodeName)
    .map(({ name }) => name);
export const attachmentsOf = (model: ClusterModel, nodeName: string) =>
  model.attachments.list().filter((one) => one.nodeName === nodeName);
/** Decisions about one node, each once where it repeats. */
export const decisionsOn = (facts: readonly Fact[], nodeName: string) => {
  const all = facts.flatMap((fact) => (fact.kind === "decided" && fact.nodeName === nodeName ? [fact.decision] : []));
  return all.filter((decision, index) => decision !== all[index - 1]);
};
export const reasons = (model: ClusterModel) => model.events().map(({ reason }) => reason);
/** All of a node that fencing could touch. */
export const traceOf = (model: ClusterModel, nodeName: string) => {
  const node = model.node(nodeName);
  return { unschedulable: node?.unschedulable, taints: node?.taints, annotations: node?.annotations };
};
export const NO_TRACE = { unschedulable: false, taints: [], annotations: {} };
