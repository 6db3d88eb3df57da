/** The story of an urgent signal on a cluster in memory: what an operator sees at the end, whatever happens on the way. */
import { describe, expect, it } from "vitest";
import { drainNodes } from "../../../functions/drain-node/drain-node.ts";
import type { Fact } from "../../../functions/drain-node/facts.ts";
import { type DrainTools, Memory } from "../../../functions/drain-node/tools.ts";
import {
  DRAIN_ANNOTATION,
  DRAINING_LABEL,
  INSTANCE_ID_LABEL,
  INTERRUPTION_TAINT,
} from "../../../shared/domain/keys.ts";
import type { Outcome } from "../../../shared/domain/outcome.ts";
import type { Policy } from "../../../shared/domain/policy.ts";
import type { Signal } from "../../../shared/domain/signal.ts";
import { type Cluster, ClusterRefused, ClusterUnavailable } from "../../../shared/ports/cluster.ts";
import { providerIdOf } from "../../builders/a-node.ts";
import { aPolicy } from "../../builders/a-policy.ts";
import { aSpotInterruption } from "../../builders/a-signal.ts";
import { FakeInstances } from "../../fakes/fake-instances.ts";
import { HeldClock } from "../../fakes/held-clock.ts";
import { ClusterModel } from "../../fakes/kube-api/cluster-model.ts";
import { memoryCluster } from "../../fakes/memory-cluster.ts";

const idOf = (index: number) => `i-${String(index).padStart(17, "0")}`;
const START = new Date("2026-01-01T12:00:00Z");
const daemonSet = { apiVersion: "apps/v1", kind: "DaemonSet", name: "logs" };

/** A cluster of `nodes` nodes, each with `pods` pods and one of a DaemonSet, and a drain that can be stepped. */
function aWorld(given: { nodes?: number; pods?: number; podStopMs?: number; policy?: Policy } = {}) {
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
async function drain(signals: readonly Signal[], tools: DrainTools, clock: HeldClock, maxSteps = 1000) {
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

const interruptionOf = (index: number, given: Partial<Signal> = {}) =>
  aSpotInterruption({ id: `event-${index}`, instanceId: idOf(index), at: START, ...given });
const podsOn = (model: ClusterModel, node: string) =>
  model
    .pods()
    .filter((pod) => pod.nodeName === node)
    .map(({ name }) => name);
const decisions = (facts: readonly Fact[]) => facts.flatMap((fact) => (fact.kind === "decided" ? [fact.decision] : []));
const reasons = (model: ClusterModel) => model.events().map(({ reason }) => reason);
const failing = (tools: DrainTools, methods: Partial<Cluster>): DrainTools => ({
  ...tools,
  cluster: { ...tools.cluster, ...methods },
});

describe("a notice drains its node", () => {
  it("cordoned, emptied of all but its DaemonSet's pods, and labelled so", async () => {
    const { clock, model, facts, tools } = aWorld();
    const { ended } = await drain([interruptionOf(1)], tools, clock);
    expect(ended).toMatchObject([{ kind: "done", because: expect.stringContaining("empty") }]);
    const node = model.node("node-1");
    expect(node).toMatchObject({
      unschedulable: true,
      labels: { [INSTANCE_ID_LABEL]: idOf(1), [DRAINING_LABEL]: "drained" },
      taints: [{ key: INTERRUPTION_TAINT, value: "spot-interruption", effect: "NoSchedule" }],
    });
    expect(JSON.parse(node?.annotations[DRAIN_ANNOTATION] ?? "")).toMatchObject({
      decision: "drained",
      endedAt: expect.any(String),
    });
    expect(podsOn(model, "node-1")).toEqual(["logs-1"]);
    expect(decisions(facts)).toEqual(["evict", "wait", "drained"]);
  });

  it("case 34: Events on the node tell the start and the end, once each", async () => {
    const { clock, model, tools } = aWorld();
    await drain([interruptionOf(1), interruptionOf(1)], tools, clock);
    await drain([interruptionOf(1)], tools, clock);
    expect(reasons(model)).toEqual(["InterruptionDrainStarted", "InterruptionDrained"]);
  });

  it("case 5: fifty at once are all drained, none is lost", async () => {
    const { clock, model, tools } = aWorld({ nodes: 50, pods: 10 });
    const { ended } = await drain(
      Array.from({ length: 50 }, (_, n) => interruptionOf(n + 1)),
      tools,
      clock,
    );
    expect(ended.map((outcome) => outcome?.kind)).toEqual(Array.from({ length: 50 }, () => "done"));
    expect(model.pods().every((pod) => pod.name.startsWith("logs-"))).toBe(true);
    expect(model.nodes().every((node) => node.unschedulable)).toBe(true);
  });

  it("all nodes of a batch are cordoned before anything is evicted", async () => {
    const { model, tools } = aWorld({ nodes: 3 });
    const cordonedAtFirstEviction: number[] = [];
    const spying = failing(tools, {
      evictPod: async (pod, grace) => {
        cordonedAtFirstEviction.push(model.nodes().filter((node) => node.unschedulable).length);
        return tools.cluster.evictPod(pod, grace);
      },
    });
    await drainNodes(
      [1, 2, 3].map((n) => interruptionOf(n)),
      spying,
    );
    expect(cordonedAtFirstEviction[0]).toBe(3);
  });

  it("only the interrupted node is touched", async () => {
    const { clock, model, tools } = aWorld({ nodes: 2 });
    const before = model.node("node-2");
    await drain([interruptionOf(1)], tools, clock);
    expect(model.node("node-2")).toEqual(before);
    expect(podsOn(model, "node-2")).toEqual(["logs-2", "web-2-1", "web-2-2"]);
  });

  it("the same event doubled, also within a batch, is one drain", async () => {
    const { clock, cluster, tools } = aWorld();
    await drain([interruptionOf(1), interruptionOf(1)], tools, clock);
    expect(cluster.counts.get("create pods/eviction")).toBe(2);
    const { ended } = await drain([interruptionOf(1)], tools, clock);
    expect(ended).toMatchObject([{ kind: "done" }]);
    expect(cluster.counts.get("create pods/eviction")).toBe(2);
    expect(cluster.counts.get("patch nodes")).toBe(2);
  });

  it("a function killed after the cordon, or after the evictions, is continued from what the cluster shows", async () => {
    const { clock, model, tools } = aWorld();
    const dies = failing(tools, { listPodsOnNode: () => Promise.reject(new Error("killed")) });
    await drainNodes([interruptionOf(1)], dies);
    expect(model.node("node-1")?.unschedulable).toBe(true);
    await drainNodes([interruptionOf(1)], tools);
    clock.advance(12_000);
    const { ended } = await drain([interruptionOf(1)], { ...tools, memory: new Memory() }, clock);
    expect(ended).toMatchObject([{ kind: "done" }]);
    expect(podsOn(model, "node-1")).toEqual(["logs-1"]);
  });
});

describe("budgets", () => {
  function aBlockedWorld(graceSeconds = 30, policy?: Policy) {
    const world = aWorld({ pods: 1, ...(policy && { policy }) });
    world.model.addPod({ name: "db-1", nodeName: "node-1", labels: { app: "db" }, graceSeconds });
    world.model.addBudget({ namespace: "default", name: "db", matchLabels: { app: "db" }, minAvailable: 1 });
    return world;
  }

  it("case 47: an Event on the pod names the budget, once for the whole incident", async () => {
    const { clock, model, tools } = aBlockedWorld();
    await drain([interruptionOf(1)], tools, clock);
    const blocked = model.events().filter(({ reason }) => reason === "EvictionBlocked");
    expect(blocked).toMatchObject([
      { regarding: { kind: "Pod", name: "db-1" }, note: expect.stringContaining("db refuses") },
    ]);
  });

  it("case 47: two notices of one interruption, with ids of their own, tell it once", async () => {
    const { clock, model, tools } = aBlockedWorld();
    await drainNodes([interruptionOf(1, { id: "first" })], tools);
    await drainNodes([interruptionOf(1, { id: "second" })], tools);
    await drain([interruptionOf(1, { id: "first" })], tools, clock);
    await drain([interruptionOf(1, { id: "second" })], tools, clock);
    expect(reasons(model).toSorted()).toEqual([
      "DeletedPastBudget",
      "EvictionBlocked",
      "InterruptionDrainStarted",
      "InterruptionDrained",
    ]);
  });

  it("case 30: the pod is deleted past its budget in time to run its grace", async () => {
    const { clock, model, facts, tools } = aBlockedWorld();
    const goneAt: number[] = [];
    model.onChange((change) => {
      if (change.kind === "pod" && change.pod.name === "db-1" && change.pod.deletionTimestamp) {
        goneAt.push((clock.now().getTime() - START.getTime()) / 1000);
      }
    });
    await drain([interruptionOf(1)], tools, clock);
    expect(goneAt[0]).toBeGreaterThanOrEqual(85);
    expect(goneAt[0]).toBeLessThan(86);
    expect(facts).toContainEqual({ kind: "deleted-past-budget", pod: "default/db-1", budget: "db", graceSeconds: 30 });
    expect(reasons(model)).toContain("DeletedPastBudget");
  });

  it("the first refusal is kept on the node, so that patience survives any function", async () => {
    const { clock, model, tools } = aBlockedWorld();
    await drainNodes([interruptionOf(1)], tools);
    clock.advance(3_000);
    await drainNodes([interruptionOf(1)], { ...tools, memory: new Memory() });
    expect(JSON.parse(model.node("node-1")?.annotations[DRAIN_ANNOTATION] ?? "")).toMatchObject({
      blockedSince: { apps: START.toISOString() },
    });
  });

  it("a budget that yields in time is not bypassed", async () => {
    const { clock, model, facts, tools } = aBlockedWorld();
    await drainNodes([interruptionOf(1)], tools);
    model.addPod({ name: "db-2", nodeName: "node-9", labels: { app: "db" } });
    clock.advance(90_000);
    await drain([interruptionOf(1)], tools, clock);
    expect(facts.filter(({ kind }) => kind === "deleted-past-budget")).toEqual([]);
    expect(podsOn(model, "node-1")).toEqual(["logs-1"]);
  });

  it("case 19: one node isn't delayed by ten that are blocked", async () => {
    const { clock, model, tools } = aWorld({ nodes: 11, pods: 1 });
    for (let n = 1; n <= 10; n++) model.addPod({ name: `db-${n}`, nodeName: `node-${n}`, labels: { app: "db" } });
    model.addBudget({ namespace: "default", name: "db", matchLabels: { app: "db" }, minAvailable: 10 });
    const signals = Array.from({ length: 11 }, (_, n) => interruptionOf(n + 1));
    for (let step = 0; step < 4; step++) {
      await drainNodes(signals, tools);
      clock.advance(3_000);
    }
    expect(model.node("node-11")?.labels[DRAINING_LABEL]).toBe("drained");
    expect(model.node("node-1")?.labels[DRAINING_LABEL]).toBe("involuntary");
  });
});

describe("which node", () => {
  it("case 14: is found by providerID where its name says nothing, and labelled then", async () => {
    const { clock, model, cluster, tools } = aWorld();
    await drain([interruptionOf(1)], tools, clock);
    expect(model.node("node-1")?.labels[INSTANCE_ID_LABEL]).toBe(idOf(1));
    expect(cluster.counts.get("list nodes")).toBe(4);
  });

  it("case 27: two clusters with the same names and addresses: only the instance's own node is touched", async () => {
    const blue = aWorld();
    const red = aWorld();
    red.model.removeNode("node-1");
    red.model.addNode({ name: "node-1", providerId: providerIdOf(idOf(99)), labels: {} });
    red.instances.put({ id: idOf(1), tags: { "kubernetes.io/cluster/blue": "owned" } });
    await drain([interruptionOf(1)], blue.tools, blue.clock);
    await drain([interruptionOf(1)], { ...red.tools, clusterName: "red" }, red.clock);
    expect(blue.model.node("node-1")?.unschedulable).toBe(true);
    expect(red.model.node("node-1")?.unschedulable).toBe(false);
    expect(podsOn(red.model, "node-1")).toContain("web-1-1");
  });

  it("case 2: an instance of another cluster is acknowledged without action, and EC2 isn't asked again for minutes", async () => {
    const { clock, instances, facts, cluster, tools } = aWorld();
    instances.put({ id: idOf(99), tags: { "kubernetes.io/cluster/red": "owned" } });
    await drain([interruptionOf(99)], tools, clock);
    await drain([interruptionOf(99)], tools, clock);
    expect(decisions(facts)).toEqual(["foreign", "foreign"]);
    expect(instances.questions).toEqual([[idOf(99)]]);
    expect(cluster.counts.get("patch nodes")).toBeUndefined();
  });

  it("case 4: EC2 throttles during a burst: known nodes are drained all the same, nobody is taken for foreign", async () => {
    const { clock, model, instances, facts, tools } = aWorld({ nodes: 3 });
    instances.refuse("RequestLimitExceeded");
    const { ended } = await drain(
      [1, 2, 3, 99].map((n) => interruptionOf(n)),
      tools,
      clock,
    );
    expect(model.nodes().map((node) => node.labels[DRAINING_LABEL])).toEqual(["drained", "drained", "drained"]);
    expect(ended.map((outcome) => outcome?.kind)).toEqual(["done", "done", "done", "done"]);
    expect(decisions(facts)).toContain("not-joined");
    expect(decisions(facts)).not.toContain("foreign");
  });

  it("EC2 isn't asked where the cluster knows the node", async () => {
    const { clock, instances, tools } = aWorld();
    await drain([interruptionOf(1)], tools, clock);
    expect(instances.questions).toEqual([]);
  });

  it("an instance that joins after its notice is cordoned on arrival", async () => {
    const { clock, model, instances, tools } = aWorld();
    instances.put({ id: idOf(7), tags: { "kubernetes.io/cluster/blue": "owned" } });
    expect(await drainNodes([interruptionOf(7)], tools)).toMatchObject([{ kind: "again" }]);
    model.addNode({ name: "node-7", providerId: providerIdOf(idOf(7)), labels: {} });
    clock.advance(5_000);
    await drain([interruptionOf(7)], tools, clock);
    expect(model.node("node-7")?.unschedulable).toBe(true);
  });

  it("case 33: a node of another controller is untouched", async () => {
    const { clock, model, facts, tools } = aWorld();
    model.addNode({ name: "karpenter", providerId: providerIdOf(idOf(8)), labels: { "karpenter.sh/nodepool": "x" } });
    await drain([interruptionOf(8)], tools, clock);
    expect(model.node("karpenter")?.unschedulable).toBe(false);
    expect(decisions(facts)).toEqual(["ignored"]);
  });

  it("two nodes with one instance: reported, neither is touched", async () => {
    const { clock, model, facts, tools } = aWorld();
    model.addNode({ name: "twin", providerId: providerIdOf(idOf(1)), labels: {} });
    await drain([interruptionOf(1)], tools, clock);
    expect(model.nodes().some((node) => node.unschedulable)).toBe(false);
    expect(decisions(facts)).toEqual(["ambiguous"]);
  });
});

describe("dry run", () => {
  it("case 25: nothing is changed, the decision is said, and the message is done", async () => {
    const { clock, model, cluster, facts, tools } = aWorld({ policy: aPolicy({ default: { dryRun: true } }) });
    const before = [model.nodes(), model.pods()];
    const { ended } = await drain([interruptionOf(1)], tools, clock);
    expect([model.nodes(), model.pods()]).toEqual(before);
    expect(model.events()).toEqual([]);
    expect([...cluster.counts.keys()].toSorted()).toEqual(["list nodes", "list pods"]);
    expect(decisions(facts)).toEqual(["dry-run"]);
    expect(ended).toMatchObject([{ kind: "done", because: expect.stringContaining("2 pods to evict") }]);
  });
});

describe("writing the node", () => {
  it("case 6: a patch answered 409 is made again on the fresh node until it holds", async () => {
    const { clock, model, tools } = aWorld();
    let conflicts = 4;
    const contended = failing(tools, {
      patchNode: async (node, change, options) => {
        if (conflicts-- > 0) model.changeNode(model.node("node-1") ?? node, { labels: { touched: String(conflicts) } });
        return tools.cluster.patchNode(node, change, options);
      },
    });
    await drain([interruptionOf(1)], contended, clock);
    expect(model.node("node-1")).toMatchObject({
      unschedulable: true,
      labels: { touched: "0", [DRAINING_LABEL]: "drained" },
      taints: [{ key: INTERRUPTION_TAINT }],
    });
  });

  it("case 7: admission refuses the taint: reported, cordoned alone, drained all the same", async () => {
    const { clock, model, facts, tools } = aWorld();
    const strict = failing(tools, {
      patchNode: async (node, change, options) =>
        change.taints
          ? { kind: "refused", because: "admission webhook denied" }
          : tools.cluster.patchNode(node, change, options),
    });
    await drain([interruptionOf(1)], strict, clock);
    expect(model.node("node-1")).toMatchObject({ unschedulable: true, taints: [] });
    expect(podsOn(model, "node-1")).toEqual(["logs-1"]);
    expect(facts).toContainEqual({
      kind: "cordon-incomplete",
      nodeName: "node-1",
      because: "admission webhook denied",
    });
  });

  it("a node made anew under the same name in between is not touched", async () => {
    const { model, facts, tools } = aWorld();
    const racing = failing(tools, {
      patchNode: async () => {
        model.removeNode("node-1");
        model.addNode({ name: "node-1", providerId: providerIdOf(idOf(50)), labels: {} });
        return { kind: "conflict" };
      },
    });
    await drainNodes([interruptionOf(1)], racing);
    expect(model.node("node-1")?.unschedulable).toBe(false);
    expect(decisions(facts)).toEqual(["node-gone"]);
  });
});

describe("faults", () => {
  const away = new ClusterUnavailable("listing pods: connection reset");

  it("a cluster that is away is asked again, nothing is acknowledged", async () => {
    const { tools } = aWorld();
    const broken = failing(tools, { listNodesByInstanceId: () => Promise.reject(away) });
    expect(await drainNodes([interruptionOf(1), interruptionOf(2)], broken)).toEqual([
      { kind: "again", afterSeconds: 1, because: away.message },
      { kind: "again", afterSeconds: 1, because: away.message },
    ]);
  });

  it("one node's trouble stays its own", async () => {
    const { model, tools } = aWorld({ nodes: 2 });
    const broken = failing(tools, {
      listPodsOnNode: (name) => (name === "node-1" ? Promise.reject(away) : tools.cluster.listPodsOnNode(name)),
    });
    await drainNodes([interruptionOf(1), interruptionOf(2)], broken);
    expect(
      model
        .pods()
        .filter((pod) => pod.deletionTimestamp)
        .map(({ nodeName }) => nodeName),
    ).toEqual(["node-2", "node-2"]);
  });

  it("when the invocation's time is over, the rest comes back in a second", async () => {
    const { tools } = aWorld();
    const outOfTime = {
      ...failing(tools, { listPodsOnNode: () => Promise.reject(away) }),
      timeBudget: AbortSignal.abort(),
    };
    expect(await drainNodes([interruptionOf(1)], outOfTime)).toMatchObject([
      { kind: "again", afterSeconds: 1, because: expect.stringContaining("time was over") },
    ]);
  });

  it("missing rights are tried until minutes after the deadline, then set aside with the reason", async () => {
    const { clock, tools } = aWorld();
    const denied = failing(tools, {
      listNodesByInstanceId: () => Promise.reject(new ClusterRefused("listing nodes: 403")),
    });
    const { ended, steps } = await drain([interruptionOf(1)], denied, clock);
    expect(ended).toMatchObject([{ kind: "dead-letter", because: expect.stringContaining("listing nodes: 403") }]);
    expect(steps).toBeLessThan(900);
  });

  it("an Event that can't be posted holds up nothing", async () => {
    const { clock, model, facts, tools } = aWorld();
    await drain([interruptionOf(1)], failing(tools, { postEvent: () => Promise.reject(away) }), clock);
    expect(model.node("node-1")?.labels[DRAINING_LABEL]).toBe("drained");
    expect(facts).toContainEqual({ kind: "event-not-posted", because: away.message });
  });

  it("an unexpected error is noted, and the message comes back", async () => {
    const { facts, tools } = aWorld();
    const error = new TypeError("undefined is not a function");
    const buggy = failing(tools, { listPodsOnNode: () => Promise.reject(error) });
    expect(await drainNodes([interruptionOf(1)], buggy)).toMatchObject([{ kind: "again" }]);
    expect(facts).toContainEqual({ kind: "step-failed", error });
  });
});

describe("the end of a drain that can't finish", () => {
  it("is the dead letters, minutes after the deadline and far within 900 receives; the node isn't called drained", async () => {
    const { clock, model, tools } = aWorld();
    model.addNode({ name: "sick", providerId: providerIdOf(idOf(3)), labels: {}, ready: "False" });
    model.addPod({ name: "web-3", nodeName: "sick" });
    const stubborn = failing(tools, { evictPod: async () => ({ kind: "unanswered", because: "500" }) });
    const { ended, steps } = await drain([interruptionOf(3)], stubborn, clock);
    expect(ended).toMatchObject([{ kind: "dead-letter", because: expect.stringContaining("gave up") }]);
    expect(steps).toBeLessThan(900);
    expect(model.node("sick")?.labels[DRAINING_LABEL]).toBe("involuntary");
    expect(reasons(model)).toContain("InterruptionDrainGivenUp");
  });

  it("case 41: an unreachable node's pods are asked to go with 1 s, and its kubelet isn't waited for", async () => {
    const { clock, model, facts, tools } = aWorld();
    model.silenceKubelet("node-1");
    const { ended } = await drain([interruptionOf(1)], tools, clock);
    expect(decisions(facts)).toEqual(["evict", "unreachable"]);
    expect(ended).toMatchObject([{ kind: "done" }]);
    const web = model.pods().filter((pod) => pod.name.startsWith("web"));
    expect(web.map((pod) => pod.deletionTimestamp)).toEqual([
      new Date(START.getTime() + 1000),
      new Date(START.getTime() + 1000),
    ]);
    expect(model.node("node-1")?.labels[DRAINING_LABEL]).toBe("involuntary");
  });

  it("a stale signal about a healthy node changes nothing", async () => {
    const { clock, model, cluster, facts, tools } = aWorld();
    clock.advance(421_000);
    await drain([interruptionOf(1)], tools, clock);
    expect(decisions(facts)).toEqual(["stale"]);
    expect(model.node("node-1")?.unschedulable).toBe(false);
    expect(cluster.counts.get("patch nodes")).toBeUndefined();
  });

  it("a node that is gone has nothing left to drain", async () => {
    const { clock, model, instances, facts, tools } = aWorld();
    instances.put({ id: idOf(1), state: "terminated", tags: { "kubernetes.io/cluster/blue": "owned" } });
    await drainNodes([interruptionOf(1)], tools);
    model.removeNode("node-1");
    clock.advance(3_000);
    await drain([interruptionOf(1)], tools, clock);
    expect(decisions(facts)).toEqual(["evict", "node-gone"]);
  });
});
