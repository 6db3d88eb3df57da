/** What must hold of every strike, played on random nodes: processes that go late or never, memory that comes back. */
import * as fc from "fast-check";
import { expect, it } from "vitest";
import { decideStrike, decideTurn, keepStrikes } from "../../../../node-agent/early-oom/decide/strike.ts";
import type {
  ContainerMemory,
  FactsByPod,
  PodFacts,
  Shortage,
  Strike,
} from "../../../../node-agent/early-oom/words.ts";
import { aContainer, factsByPod, factsOf, GIB, GIB_IN_KIB } from "./fixtures/memory.ts";

const totalKib = 8 * GIB_IN_KIB;
const OWN = "00000000-0000-4000-8000-000000000000";

const inhabitants = fc.array(
  fc.record({
    whose: fc.constantFrom("a user", "a user", "a user", "us", "static", "unknown"),
    workingSetBytes: fc.integer({ min: 0, max: 4 * GIB }),
    growthBytes: fc.integer({ min: -GIB, max: GIB }),
    requestBytes: fc.constantFrom(0, 0, GIB, 4 * GIB),
    priority: fc.constantFrom(0, 0, -10, 1000, 1_999_999_999, 2_000_000_000, 2_000_001_000),
    priorityClassName: fc.constantFrom(undefined, undefined, "high", "system-cluster-critical", "system-node-critical"),
    knownStatic: fc.boolean(),
    /** Until its processes are gone once struck; never beyond the end of the play. */
    goneAfterMs: fc.constantFrom(0, 100, 1_900, 3_000, 1_000_000),
  }),
  { maxLength: 12 },
);

const plays = fc.record({
  inhabitants,
  rule: fc.constantFrom("A", "B", "C"),
  recoversAtMs: fc.integer({ min: 0, max: 120_000 }),
});

interface World {
  readonly containers: readonly ContainerMemory[];
  readonly facts: FactsByPod;
  readonly goneAfterMs: ReadonlyMap<string, number>;
}

type Play = typeof plays extends fc.Arbitrary<infer T> ? T : never;

function build(lives: Play["inhabitants"]): World {
  const known: PodFacts[] = [];
  const goneAfterMs = new Map<string, number>();
  const containers = lives.map((life, n) => {
    const { whose, workingSetBytes, growthBytes, requestBytes, priority, priorityClassName, knownStatic } = life;
    const hex = n.toString(16);
    const apiUid = `${hex.repeat(8)}-1111-4111-8111-111111111111`;
    const uid = whose === "us" ? OWN : whose === "static" ? hex.repeat(32) : apiUid;
    const isStatic = whose === "static" && !knownStatic;
    const container = aContainer({
      podUid: uid,
      containerId: hex.repeat(64),
      birth: n,
      workingSetBytes,
      growthBytes,
      isStatic,
    });
    if (whose !== "unknown") {
      known.push(
        factsOf(container, { requestBytes, priority, priorityClassName, isStatic: whose === "static" && knownStatic }),
      );
    }
    goneAfterMs.set(container.cgroup, life.goneAfterMs);
    return container;
  });
  return { containers, facts: factsByPod(...known), goneAfterMs };
}

interface Struck extends Strike {
  readonly victim?: ContainerMemory;
}

/** Two minutes of a shortage, with looks 100 ms apart, played as the loop does it. */
function play({ containers, facts, goneAfterMs }: World, shortageAt: (nowMs: number) => Shortage): readonly Struck[] {
  const isGone = ({ cgroup, atMs }: Strike, nowMs: number) =>
    cgroup === undefined || nowMs >= atMs + (goneAfterMs.get(cgroup) ?? 0);
  const all: Struck[] = [];
  let strikes: readonly Strike[] = [];
  for (let nowMs = 0; nowMs < 120_000; nowMs += 100) {
    strikes = keepStrikes(strikes, nowMs).map((strike) => ({ ...strike, gone: isGone(strike, nowMs) }));
    if (decideTurn(strikes, nowMs).kind === "wait") continue;
    const standing = containers.filter(({ cgroup }) => !all.some((it) => it.cgroup === cgroup && isGone(it, nowMs)));
    const question = { totalKib, containers: standing, facts, ownPodUid: OWN, strikes };
    const move = decideStrike({ mode: "cgroup", nowMs, again: shortageAt(nowMs), question });
    if (move.kind === "nothing" || move.kind === "wait") continue;
    const victim = move.kind === "kill" ? move.victim.container : undefined;
    if (victim) expect(standing).toContain(victim);
    const strike = { atMs: nowMs, cgroup: victim?.cgroup, gone: victim === undefined };
    strikes = [...strikes, strike];
    all.push(victim ? { ...strike, victim } : strike);
  }
  return all;
}

function played({ inhabitants: lives, rule, recoversAtMs }: Play) {
  const world = build(lives);
  const short: Shortage = { kind: "short", rule, because: "little memory" };
  const fine: Shortage = { kind: "fine", because: "enough memory" };
  return { world, strikes: play(world, (nowMs) => (nowMs < recoversAtMs ? short : fine)) };
}

it("nothing of ours, static, system-critical, unknown or small is ever struck", () => {
  const held = fc.property(plays, (random) => {
    const { world, strikes } = played(random);
    for (const { victim } of strikes) {
      if (victim === undefined) continue;
      const pod = world.facts.get(victim.podUid);
      expect(victim.podUid).not.toBe(OWN);
      expect(victim.isStatic).toBe(false);
      expect(pod).toMatchObject({ isStatic: false });
      expect(pod?.priority).toBeLessThan(2_000_000_000);
      expect(pod?.priorityClassName ?? "").not.toMatch(/^system-/);
      expect(victim.workingSetBytes).toBeGreaterThanOrEqual(totalKib * 1024 * 0.05);
    }
  });
  fc.assert(held, { numRuns: 300 });
});

it("the plays hold strikes of all sorts, so that the properties say something", () => {
  const strikes = fc.sample(plays, { numRuns: 300, seed: 1 }).flatMap((random) => played(random).strikes);
  expect(strikes.filter(({ victim }) => victim !== undefined).length).toBeGreaterThan(50);
  expect(strikes.filter(({ victim }) => victim === undefined).length).toBeGreaterThan(50);
});

it("there is one strike at a time, and nobody is struck twice", () => {
  const held = fc.property(plays, (random) => {
    const { world, strikes } = played(random);
    const cgroups = strikes.flatMap(({ cgroup }) => cgroup ?? []);
    expect(new Set(cgroups).size).toBe(cgroups.length);
    for (const [n, { atMs }] of strikes.entries()) {
      const before = strikes[n - 1];
      if (before === undefined) continue;
      const wentAfter = before.cgroup === undefined ? 0 : (world.goneAfterMs.get(before.cgroup) ?? 0);
      expect(atMs - before.atMs).toBeGreaterThanOrEqual(wentAfter < 2_000 ? 15_000 : 2_000);
    }
  });
  fc.assert(held, { numRuns: 300 });
});

it("nothing is struck once memory recovered", () => {
  const held = fc.property(plays, (random) => {
    for (const { atMs } of played(random).strikes) expect(atMs).toBeLessThan(random.recoversAtMs);
  });
  fc.assert(held, { numRuns: 300 });
});

it("who keeps to its request is struck by rule A only, after all who don't", () => {
  const held = fc.property(plays, (random) => {
    const { world, strikes } = played(random);
    for (const { victim } of strikes) {
      const request = victim && world.facts.get(victim.podUid)?.largestRequestBytes;
      if (request === undefined || victim === undefined || victim.workingSetBytes > request) continue;
      expect(random.rule).toBe("A");
      expect(victim.growthBytes).toBeGreaterThan(0);
    }
  });
  fc.assert(held, { numRuns: 300 });
});
