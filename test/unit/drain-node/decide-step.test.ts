/** The next step of an urgent drain, as a table an operator could argue with. */
import { describe, expect, it } from "vitest";
import { decideLookAgain } from "../../../functions/drain-node/decide/look-again.ts";
import type { Observation } from "../../../functions/drain-node/decide/observation.ts";
import { decideStep, type Step } from "../../../functions/drain-node/decide/step.ts";
import { plusSeconds } from "../../../functions/drain-node/decide/times.ts";
import type { DrainRecord } from "../../../shared/domain/drain-record.ts";
import type { Pod } from "../../../shared/domain/pod.ts";
import { aPod } from "../../builders/a-pod.ts";
import { aNodePolicy } from "../../builders/a-policy.ts";
import { aSpotInterruption } from "../../builders/a-signal.ts";

const signal = aSpotInterruption();
const at = (seconds: number) => plusSeconds(signal.at, seconds);
const aRecord = (given: Partial<DrainRecord> = {}): DrainRecord => ({
  v: 1,
  signal: `spot-interruption/${signal.id}`,
  decision: "draining",
  because: "test",
  deadline: signal.deadline.toISOString(),
  startedAt: signal.at.toISOString(),
  ...given,
});

function stepAt(seconds: number, pods: readonly Pod[], given: Partial<Observation> = {}): Step {
  return decideStep({
    now: at(seconds),
    signal,
    node: { ready: "True" },
    pods,
    policy: aNodePolicy(),
    record: aRecord(),
    relayElsewhere: false,
    ...given,
  });
}

function evicted(step: Step) {
  if (step.kind !== "evict") return step.kind;
  return step.evictions.map(({ pod, graceSeconds }) => [pod.name, graceSeconds]);
}

const critical = (name: string, given: Partial<Pod> = {}) =>
  aPod({ name, priorityClassName: "system-cluster-critical", ...given });
const relay = aPod({
  name: "relay",
  namespace: "nodekeeper",
  labels: { "app.kubernetes.io/name": "nodekeeper-relay" },
});

describe("the order of two tiers", () => {
  it("applications go first, critical pods wait", () => {
    expect(evicted(stepAt(1, [aPod({ name: "web" }), critical("dns")]))).toEqual([["web", undefined]]);
  });
  it("critical pods go once the applications are gone", () => {
    expect(evicted(stepAt(9, [critical("dns")]))).toEqual([["dns", undefined]]);
  });
  it("critical pods wait while an application is still ending", () => {
    const ending = aPod({ name: "web", deletionTimestamp: at(30) });
    expect(stepAt(9, [ending, critical("dns")])).toMatchObject({ kind: "wait" });
  });
  it("a slow application doesn't starve the cluster's DNS of its grace", () => {
    const slow = aPod({ name: "slow", deletionTimestamp: at(115) });
    expect(evicted(stepAt(84.9, [slow, critical("dns")]))).toBe("wait");
    expect(evicted(stepAt(85, [slow, critical("dns")]))).toEqual([["dns", undefined]]);
  });
  it("a stuck application holds nobody up", () => {
    const stuck = aPod({ name: "stuck", deletionTimestamp: at(-61) });
    expect(evicted(stepAt(1, [stuck, critical("dns")]))).toEqual([["dns", undefined]]);
  });
});

describe("the relay's own pods", () => {
  it("go last, while another relay is Ready", () => {
    expect(evicted(stepAt(1, [aPod({ name: "web" }), relay], { relayElsewhere: true }))).toEqual([["web", undefined]]);
    expect(evicted(stepAt(9, [relay], { relayElsewhere: true }))).toEqual([["relay", undefined]]);
  });
  it("stay while no other relay is Ready", () => {
    expect(stepAt(9, [relay])).toMatchObject({ kind: "wait" });
  });
  it("go all the same when the deadline is near", () => {
    expect(evicted(stepAt(85, [relay]))).toEqual([["relay", undefined]]);
  });
});

describe("grace", () => {
  it("case 29: a pod with 90 s of grace keeps it as far as the deadline allows", () => {
    const pod = aPod({ name: "long", graceSeconds: 90 });
    expect(evicted(stepAt(2, [pod]))).toEqual([["long", undefined]]);
    expect(evicted(stepAt(40, [pod]))).toEqual([["long", 75]]);
  });
  it("case 28: a notice seen 110 s late works with what is left", () => {
    expect(evicted(stepAt(110, [aPod({ name: "web" })]))).toEqual([["web", 5]]);
  });
  it("case 35: past the deadline both tiers go at once, with 1 s and never less", () => {
    for (const late of [120, 121, 4000]) {
      const step = stepAt(late, [aPod({ name: "web" }), critical("dns"), relay], { node: { ready: "False" } });
      expect(evicted(step)).toEqual([
        ["web", 1],
        ["dns", 1],
        ["relay", 1],
      ]);
    }
  });
  it("an eviction never lengthens a pod's grace", () => {
    expect(evicted(stepAt(1, [aPod({ name: "short", graceSeconds: 2 })]))).toEqual([["short", undefined]]);
  });
  it("a pod that asks for no grace gets 1 s: 0 would be a force deletion", () => {
    expect(evicted(stepAt(1, [aPod({ name: "zero", graceSeconds: 0 })]))).toEqual([["zero", 1]]);
  });
  it("the policy bounds it", () => {
    const policy = aNodePolicy({ podGraceSeconds: { max: 20 } });
    expect(evicted(stepAt(1, [aPod({ name: "web" })], { policy }))).toEqual([["web", 20]]);
  });
});

describe("pods that are ending already", () => {
  it("are shortened at the last look where they would end after the deadline, not a moment sooner", () => {
    const slow = aPod({ name: "slow", deletionTimestamp: at(300) });
    expect(stepAt(111.9, [slow])).toMatchObject({ kind: "wait", lookAgainSeconds: 3 });
    expect(stepAt(112, [slow])).toMatchObject({ kind: "evict", evictions: [], tightenings: [{ graceSeconds: 3 }] });
    expect(stepAt(114.9, [slow])).toMatchObject({ kind: "evict", tightenings: [{ graceSeconds: 1 }] });
  });
  it.each([100, 120])("are waited for where they end in time (+%d s)", (end) => {
    expect(stepAt(60, [aPod({ deletionTimestamp: at(end) })])).toMatchObject({ kind: "wait", lookAgainSeconds: 3 });
  });
  it("are not shortened again and again past the deadline", () => {
    const step = stepAt(130, [aPod({ deletionTimestamp: at(131) })]);
    expect(step.kind).toBe("wait");
  });
});

describe("pods that a budget protects", () => {
  const refusedAt = (seconds: number) => aRecord({ blockedSince: { apps: at(seconds).toISOString() } });
  const pastBudget = (step: Step) => (step.kind === "evict" ? step.evictions[0]?.pastBudgetGraceSeconds : step.kind);

  it.each([
    ["30 s of grace", 30, 84.9, undefined],
    ["30 s of grace", 30, 85, 30],
    ["90 s of grace", 90, 24.9, undefined],
    ["90 s of grace", 90, 25, 90],
    ["110 s of grace", 110, 19.9, undefined],
    ["110 s of grace", 110, 20, 95],
  ])("case 30: with %s, at +%d s …", (_, graceSeconds, now, expected) => {
    const step = stepAt(now, [aPod({ graceSeconds })], { record: refusedAt(0) });
    expect(pastBudget(step)).toBe(expected);
  });

  it("are evicted as often as needed before the budget's patience is over", () => {
    expect(evicted(stepAt(3, [aPod({ name: "db" })], { record: refusedAt(0) }))).toEqual([["db", undefined]]);
  });
  it("past the deadline their budget is asked once and not waited for", () => {
    expect(pastBudget(stepAt(121, [aPod()], { record: aRecord() }))).toBe(1);
  });
  it("a refusal in one tier says nothing about the other", () => {
    expect(pastBudget(stepAt(90, [critical("dns")], { record: refusedAt(0) }))).toBeUndefined();
  });
  it("where no record could be written, patience counts from the notice itself", () => {
    expect(pastBudget(stepAt(85, [aPod()], { record: undefined }))).toBe(30);
    expect(pastBudget(stepAt(84, [aPod()], { record: undefined }))).toBeUndefined();
  });
  it("the next look comes when the patience ends, if that is sooner than 3 s", () => {
    expect(stepAt(83.5, [aPod()], { record: refusedAt(0) })).toMatchObject({ lookAgainSeconds: 1.5 });
    expect(stepAt(50, [aPod()], { record: refusedAt(0) })).toMatchObject({ lookAgainSeconds: 3 });
  });
});

describe("an unreachable node", () => {
  const node = { ready: "Unknown" } as const;
  it("case 41: everything goes at once with 1 s of grace", () => {
    expect(evicted(stepAt(1, [aPod({ name: "web" }), critical("dns")], { node }))).toEqual([
      ["web", 1],
      ["dns", 1],
    ]);
  });
  it("case 41: its kubelet isn't waited for", () => {
    expect(stepAt(4, [aPod({ deletionTimestamp: at(2) })], { node })).toMatchObject({
      kind: "unreachable",
      unconfirmed: 1,
    });
  });
  it("is never called empty while pods are stuck there", () => {
    expect(stepAt(4, [aPod({ deletionTimestamp: at(-70) })], { node })).toMatchObject({
      kind: "unreachable",
      unconfirmed: 1,
    });
  });
  it("has its pods' long ends shortened at once: nobody will look again", () => {
    const step = stepAt(4, [aPod({ deletionTimestamp: at(300) })], { node });
    expect(step).toMatchObject({ kind: "evict", evictions: [], tightenings: [{ graceSeconds: 111 }] });
  });
  it("is empty like any other where no pod is left", () => {
    expect(stepAt(4, [], { node }).kind).toBe("looks-empty");
  });
});

describe("an empty node", () => {
  it("is one without pods, or with pods that are nobody's work", () => {
    const daemon = aPod({ controller: { apiVersion: "apps/v1", kind: "DaemonSet", name: "logs" } });
    expect(stepAt(1, []).kind).toBe("looks-empty");
    expect(stepAt(1, [daemon, aPod({ phase: "Succeeded" })]).kind).toBe("looks-empty");
  });
  it("names the pods that are stuck", () => {
    const stuck = aPod({ deletionTimestamp: at(-70) });
    expect(stepAt(1, [stuck])).toMatchObject({ kind: "looks-empty", stuck: [stuck] });
  });
});

describe("when to look again after a wave", () => {
  const wave = {
    usualSeconds: 3,
    throttledSeconds: [],
    unanswered: false,
    blocked: [],
    now: at(1),
    signal,
    policy: aNodePolicy(),
  };
  it.each([
    ["as planned", {}, 3],
    ["as the API server says, when it is busy", { throttledSeconds: [2, 4] }, 4],
    ["within 5 s, whatever the API server says", { throttledSeconds: [600] }, 5],
    ["in 1 s, when nobody knows what happened", { unanswered: true }, 1],
    ["when the patience of a budget ends, if that is sooner", { blocked: [aPod()], now: at(110) }, 2.5],
    ["not before 1 s", { blocked: [aPod()], now: at(118) }, 1],
  ])("%s", (_, given, seconds) => {
    expect(decideLookAgain({ ...wave, ...given })).toBe(seconds);
  });
});
