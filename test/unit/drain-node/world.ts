/** A cluster in memory and the tools of a drain on it, for the tests that tell the story of an urgent signal. */
import { drainNodes } from "../../../functions/drain-node/drain-node.ts";
import type { Fact } from "../../../functions/drain-node/facts.ts";
import { type DrainTools, Memory } from "../../../functions/drain-node/tools.ts";
import type { Outcome } from "../../../shared/domain/outcome.ts";
import type { Policy } from "../../../shared/domain/policy.ts";
import type { Signal } from "../../../shared/domain/signal.ts";
import type { Cluster } from "../../../shared/ports/cluster.ts";
import { providerIdOf } from "../../builders/a-node.ts";
import { aPolicy } from "../../builders/a-policy.ts";
import { aSpotInterruption } from "../../builders/a-signal.ts";
import { FakeInstances } from "../../fakes/fake-instances.ts";
import { HeldClock } from "../../fakes/held-clock.ts";
import { ClusterModel } from "../../fakes/kube-api/cluster-model.ts";
import { memoryCluster } from "../../fakes/memory-cluster.ts";

export const idOf = (index: number) => `i-${String(index).padStart(17, "0")}`;
export const START = new Date("2026-01-01T12:00:00Z");
export const daemonSet = { apiVersion: "apps/v1", kind: "DaemonSet", name: "logs" };

/** A cluster of `nodes` nodes, each with `pods` pods and one of a DaemonSet, and a drain that can be stepped. */
export function aWorld(given: { nodes?: number; pods?: number; podStopMs?: number; policy?: Policy } = {}) {
  const clock = new HeldClock(START);
  const model = new ClusterModel({ clock, podStopMs: given.podStopMs ?? 5_000 });
  for (let n = 1; n <= (given.nodes ?? 1); n++) {
    model.addNode({ name: `node-${n}`, providerId: providerIdOf(idOf(n)), labels: {} });
    model.addPod({ name: `logs-${n}`, nodeName: `node-${n}`, controller: daemonSet });
    for (let p = 1; p <= (given.pods ?? 2); p++) model.addPod({ name: `web-${n}-${p}`, nodeName: `node-${n}` });
  }
  const cluster = memoryCluster(model);
  const instances = new FakeInstances();
  const facts: Fact[] = [];
  const tools: DrainTools = {
    cluster,
    instances,
    clock,
    policy: given.policy ?? aPolicy(),
    clusterName: "blue",
    note: (fact) => facts.push(fact),
    memory: new Memory(),
    timeBudget: new AbortController().signal,
  };
  return { clock, model, cluster, instances, facts, tools };
}

/** Steps until every signal has ended (or `maxSteps`), as the queue would bring them back. */
export async function drain(signals: readonly Signal[], tools: DrainTools, clock: HeldClock, maxSteps = 1000) {
  const ended = new Map<Signal, Outcome>();
  let steps = 0;
  for (let open = [...signals]; open.length > 0 && steps < maxSteps; steps++) {
    const outcomes = await drainNodes(open, tools);
    const waits = outcomes.flatMap((outcome) => (outcome.kind === "again" ? [outcome.afterSeconds] : []));
    for (const [index, signal] of open.entries()) {
      const outcome = outcomes[index];
      if (outcome && outcome.kind !== "again") ended.set(signal, outcome);
    }
    open = open.filter((signal) => !ended.has(signal));
    if (waits.length > 0) clock.advance(Math.min(...waits) * 1000);
  }
  return { ended: signals.map((signal) => ended.get(signal)), steps };
}

export const interruptionOf = (index: number, given: Partial<Signal> = {}) =>
  aSpotInterruption({ id: `event-${index}`, instanceId: idOf(index), at: START, ...given });
export const podsOn = (model: ClusterModel, node: string) =>
  model
    .pods()
    .filter((pod) => pod.nodeName === node)
    .map(({ name }) => name);
export const decisions = (facts: readonly Fact[]) =>
  facts.flatMap((fact) => (fact.kind === "decided" ? [fact.decision] : []));
export const reasons = (model: ClusterModel) => model.events().map(({ reason }) => reason);
export const failing = (tools: DrainTools, methods: Partial<Cluster>): DrainTools => ({
  ...tools,
  cluster: { ...tools.cluster, ...methods },
});
