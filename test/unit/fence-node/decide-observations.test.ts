/** What is observed, how it is counted, kept and braked. Whatever happens, no node is held for more silent than it is. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decideBrake, decideGroups } from "../../../functions/fence-node/decide/brakes.ts";
import {
  type LeasePass,
  NO_OBSERVATIONS,
  type Observations,
  observe,
  rememberFailure,
  silentSince,
} from "../../../functions/fence-node/decide/observations.ts";
import { readObservations, writeObservations } from "../../../functions/fence-node/observe/observation-book.ts";
import { FENCING_RECORD_ANNOTATION } from "../../../shared/domain/fencing-record.ts";
import { policySchema } from "../../../shared/domain/policy.ts";
import { aNode } from "../../builders/a-node.ts";
import { aLease, aSilence, OBSERVED_AT, secondsBefore } from "../../builders/fencing-facts.ts";
import { ClusterModel } from "../../fakes/kube-api/cluster-model.ts";
import { memoryFencingCluster } from "../../fakes/memory-cluster.ts";

const START = new Date("2026-01-01T12:00:00Z");
const at = (seconds: number) => new Date(START.getTime() + seconds * 1000);
const NODES = new Map([["node-1", "uid-1"]]);

/** A pass that takes a second, at which the Leases of node-1 have these versions. */
const pass = (
  seconds: number,
  given: { agent?: string; kubelet?: string; nodes?: LeasePass["nodes"] } = {},
): LeasePass => ({
  askedAt: at(seconds),
  answeredAt: at(seconds + 1),
  agents: given.agent === undefined ? [] : [aLease(given.agent)],
  kubelets: given.kubelet === undefined ? [] : [aLease(given.kubelet)],
  nodes: given.nodes ?? NODES,
});
const STILL = { agent: "a1", kubelet: "k1" };
const run = (passes: readonly LeasePass[]) =>
  passes.reduce((before, one) => observe(before, one, () => 60), NO_OBSERVATIONS);
const of = (observations: Observations) => observations.nodes.get("node-1");
const stillAt = (...seconds: readonly number[]) => of(run(seconds.map((second) => pass(second, STILL))));

describe("a Lease that stands still", () => {
  it("is known since the answer that first showed it", () => {
    expect(stillAt(0, 15, 30)).toMatchObject({ observations: 3, kubelet: { firstSeenAt: at(1) } });
  });
  it("makes its node suspect after 60 s, up to the last question", () => {
    expect(stillAt(0, 15, 30, 45, 60)?.suspectedAt).toBeUndefined();
    expect(stillAt(0, 15, 30, 45, 61)?.suspectedAt).toEqual(at(61));
    expect(stillAt(0, 15, 30, 45, 61, 76)?.suspectedAt).toEqual(at(61));
  });
  it("doesn't in two looks, however far apart", () => {
    expect(stillAt(0, 80)?.suspectedAt).toBeUndefined();
    expect(stillAt(0, 80, 160)?.suspectedAt).toEqual(at(160));
  });
  it("counts two looks that are closer than 15 s as one", () => {
    expect(stillAt(0, 14)?.observations).toBe(1);
    expect(stillAt(0, 15)?.observations).toBe(2);
    expect(stillAt(0, 10, 20)?.observations).toBe(2);
  });
  it("begins anew after a gap of more than 90 s", () => {
    expect(stillAt(0, 90)?.observations).toBe(2);
    expect(stillAt(0, 91)).toMatchObject({ observations: 1, kubelet: { firstSeenAt: at(92) } });
  });
  it("begins anew where our own clock went back", () => {
    expect(stillAt(60, 15)).toMatchObject({ observations: 1, kubelet: { firstSeenAt: at(16) } });
  });
  it("begins anew for a Node made anew", () => {
    const passes = [pass(0, STILL), pass(15, STILL), pass(30, { ...STILL, nodes: new Map([["node-1", "uid-2"]]) })];
    expect(of(run(passes))).toMatchObject({ uid: "uid-2", observations: 1, kubelet: { firstSeenAt: at(31) } });
  });
  it.each([
    ["the agent's moves", { ...STILL, agent: "a2" }],
    ["the kubelet's moves", { ...STILL, kubelet: "k2" }],
    ["the agent's is gone", { kubelet: "k1" }],
    ["the kubelet's is gone", { agent: "a1" }],
  ])("counts anew when %s", (_, then) => {
    expect(of(run([pass(0, STILL), pass(15, STILL), pass(30, then)]))?.observations).toBe(1);
  });
  it("of a name that is no Node says nothing", () => {
    expect(run([pass(0, { ...STILL, nodes: new Map() })]).nodes.size).toBe(0);
  });
});

describe("any history of renewals and looks", () => {
  it("never makes a node look more silent than it is", () => {
    const steps = fc.array(
      fc.record({
        wait: fc.integer({ min: 1, max: 120 }),
        renews: fc.constantFrom("agent", "kubelet", "none", "look"),
      }),
      { maxLength: 60 },
    );
    fc.assert(
      fc.property(steps, (history) => {
        let [now, version, observations] = [0, 0, NO_OBSERVATIONS];
        const renewed = { agent: 0, kubelet: 0 };
        const versions = { agent: "a0", kubelet: "k0" };
        for (const { wait, renews } of history) {
          now += wait;
          if (renews === "agent" || renews === "kubelet") {
            renewed[renews] = now;
            versions[renews] = `${renews}${++version}`;
          } else if (renews === "look") {
            observations = observe(observations, pass(now, versions), () => 60);
            const silence = of(observations);
            if (silence === undefined) continue;
            expect(silentSince(silence).getTime()).toBeGreaterThanOrEqual(
              at(Math.max(renewed.agent, renewed.kubelet)).getTime(),
            );
            if (silence.suspectedAt) expect(now - Math.max(renewed.agent, renewed.kubelet)).toBeGreaterThanOrEqual(60);
          }
        }
      }),
      { numRuns: 2_000 },
    );
  });
});

describe("the observations between two runs", () => {
  const read = async (cluster: ReturnType<typeof memoryFencingCluster>) => {
    const reading = await readObservations(cluster);
    if (reading.kind === "unknown") throw new Error(reading.because);
    return reading;
  };

  it("come back as they were, of the nodes that are silent", async () => {
    const cluster = memoryFencingCluster(new ClusterModel());
    const observations = rememberFailure(
      run([pass(0, STILL), pass(15, STILL), pass(30, STILL), pass(70, STILL)]),
      at(40),
    );
    await writeObservations({ observations, holder: "run", resourceVersion: undefined }, cluster);
    expect((await read(cluster)).observations).toEqual(observations);
  });

  it("leave out nodes whose kubelet is heard of", async () => {
    const cluster = memoryFencingCluster(new ClusterModel());
    const observations = run([pass(0, STILL), pass(15, { agent: "a1", kubelet: "k2" })]);
    await writeObservations({ observations, holder: "run", resourceVersion: undefined }, cluster);
    expect((await read(cluster)).observations).toEqual({ ...observations, nodes: new Map() });
  });

  it("keep only so many nodes, the longest silent", async () => {
    const cluster = memoryFencingCluster(new ClusterModel());
    const nodes = new Map(Array.from({ length: 2_100 }, (_, n) => [`node-${n}`, aSilence(100 + n)]));
    const observations = { observedAt: OBSERVED_AT, failedAt: undefined, nodes };
    await writeObservations({ observations, holder: "run", resourceVersion: undefined }, cluster);
    const kept = (await read(cluster)).observations.nodes;
    expect(kept.size).toBe(2_000);
    expect(kept.has("node-2099")).toBe(true);
    expect(kept.has("node-0")).toBe(false);
  });
});

describe("the brake of a pass", () => {
  const { fencing: brakes } = policySchema.parse({});
  const observing = (silent: number, all: number, given: Partial<Observations> = {}): Observations => ({
    observedAt: OBSERVED_AT,
    failedAt: undefined,
    nodes: new Map(Array.from({ length: all }, (_, n) => [`node-${n}`, aSilence(n < silent ? 60 : 5)])),
    ...given,
  });
  it.each([
    [1, 1, false],
    [1, 5, false],
    [2, 5, true],
    [2, 19, true],
    [2, 20, false],
    [3, 20, true],
    [100, 1000, false],
    [101, 1000, true],
  ])("%d silent of %d: held %s", (silent, all, isHeld) => {
    const brake = decideBrake(observing(silent, all), [], brakes);
    expect(brake.because !== undefined).toBe(isHeld);
    expect(brake.silentShare).toBeCloseTo(silent / all);
  });
  it.each([
    [119, true],
    [120, false],
  ])("%d s after a failed look: held %s", (seconds, isHeld) => {
    const brake = decideBrake(observing(1, 20, { failedAt: secondsBefore(seconds) }), [], brakes);
    expect(brake.because !== undefined).toBe(isHeld);
  });
  it("holds while nothing was observed", () => {
    expect(decideBrake(NO_OBSERVATIONS, [], brakes).because).toBeDefined();
  });
  it("doesn't count those that were proven dead", () => {
    const proof = { kind: "ec2", because: "EC2 says stopped", at: "2026-01-01T11:00:00Z" };
    const record = {
      v: 1,
      phase: "fenced",
      uid: "u",
      because: "",
      leases: {},
      startedAt: proof.at,
      cordoned: true,
      proof,
    };
    const dead = [0, 1].map((n) =>
      aNode({ name: `node-${n}`, annotations: { [FENCING_RECORD_ANNOTATION]: JSON.stringify(record) } }),
    );
    expect(decideBrake(observing(3, 20), dead, brakes).because).toBeUndefined();
  });

  it("of a group lets at most 30 % be under fencing, whoever asks", () => {
    const clusters = fc.array(
      fc.record({ group: fc.constantFrom("a", "b", undefined), marked: fc.boolean(), asks: fc.boolean() }),
      {
        minLength: 1,
        maxLength: 60,
      },
    );
    fc.assert(
      fc.property(clusters, (given) => {
        const nodes = given.map(({ group, marked }, n) =>
          aNode({
            name: `node-${n}`,
            labels: group === undefined ? {} : { "karpenter.sh/nodepool": group },
            annotations: marked ? { [FENCING_RECORD_ANNOTATION]: "{}" } : {},
          }),
        );
        const asking = given.flatMap(({ asks }, n) => (asks ? [[`node-${n}`, aSilence(100 + n)] as const] : []));
        const refused = decideGroups(asking, nodes, brakes);
        for (const group of ["a", "b", undefined]) {
          const members = given.flatMap((one, n) => (one.group === group ? [{ ...one, name: `node-${n}` }] : []));
          const before = members.filter(({ marked }) => marked).length;
          const admitted = members.filter(({ marked, asks, name }) => asks && !marked && !refused.has(name)).length;
          const most = Math.max(1, Math.floor(0.3 * members.length));
          expect(before + admitted).toBeLessThanOrEqual(Math.max(before, most));
          const wanted = members.filter(({ marked, asks }) => asks && !marked).length;
          expect(admitted).toBe(Math.min(wanted, Math.max(0, most - before)));
        }
      }),
    );
  });
});
