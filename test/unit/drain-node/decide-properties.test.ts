/** What must hold of the decisions for any node: random pods, played against a kubelet that obeys graces and budgets that refuse. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { recordTier } from "../../../functions/drain-node/decide/evictions.ts";
import { classifyPod } from "../../../functions/drain-node/decide/pods.ts";
import { decideStep, type Step } from "../../../functions/drain-node/decide/step.ts";
import { plusSeconds, secondsUntil } from "../../../functions/drain-node/decide/times.ts";
import type { DrainRecord } from "../../../shared/domain/drain-record.ts";
import { INTERRUPTION_TAINT, MIRROR_POD_ANNOTATION } from "../../../shared/domain/keys.ts";
import type { Pod } from "../../../shared/domain/pod.ts";
import { aPod } from "../../builders/a-pod.ts";
import { aNodePolicy } from "../../builders/a-policy.ts";
import { aSpotInterruption } from "../../builders/a-signal.ts";

const signal = aSpotInterruption();
const at = (seconds: number) => plusSeconds(signal.at, seconds);

interface WorldPod {
  readonly pod: Pod;
  /** How long it takes to stop once asked, whatever its grace; the kubelet kills it at the end of the grace. */
  readonly stopSeconds: number;
  readonly protectedByBudget: boolean;
}

const traits = fc.record({
  graceSeconds: fc.oneof(fc.integer({ min: 0, max: 120 }), fc.constantFrom(30, 300, 3600)),
  priorityClassName: fc.constantFrom(undefined, "system-cluster-critical", "system-node-critical", "high"),
  phase: fc.constantFrom("Running", "Running", "Running", "Pending", "Succeeded", "Failed"),
  controller: fc.constantFrom(
    undefined,
    { apiVersion: "apps/v1", kind: "ReplicaSet", name: "web" },
    { apiVersion: "apps/v1", kind: "DaemonSet", name: "logs" },
    { apiVersion: "v1", kind: "Node", name: "node-1" },
  ),
  annotations: fc.constantFrom<Record<string, string>>({}, {}, { [MIRROR_POD_ANNOTATION]: "x" }),
  tolerations: fc.constantFrom([], [{ key: undefined }], [{ key: INTERRUPTION_TAINT }]),
});

const worldPods: fc.Arbitrary<readonly WorldPod[]> = fc
  .array(fc.record({ traits, stopSeconds: fc.integer({ min: 0, max: 200 }), protectedByBudget: fc.boolean() }), {
    maxLength: 12,
  })
  .map((all) =>
    all.map(({ traits: given, ...rest }, index) => {
      const pod: Pod = aPod({ name: `pod-${index}` });
      return { ...rest, pod: { ...pod, ...given, phase: phaseOf(given.phase) } };
    }),
  );

function phaseOf(text: string): Pod["phase"] {
  return (["Running", "Pending", "Succeeded", "Failed"] as const).find((phase) => phase === text) ?? "Unknown";
}

const policies = fc
  .record({
    pdbPatienceSeconds: fc.integer({ min: 0, max: 120 }),
    max: fc.option(fc.integer({ min: 1, max: 300 }), { nil: undefined }),
  })
  .map(({ pdbPatienceSeconds, max }) =>
    aNodePolicy({ pdbPatienceSeconds, podGraceSeconds: max === undefined ? {} : { max } }),
  );

interface History {
  readonly steps: readonly { readonly seconds: number; readonly step: Step; readonly pods: readonly Pod[] }[];
  readonly left: readonly Pod[];
  readonly endedAt: number;
}

/** Plays the loop of one signal, first seen after `start` seconds, until the node looks empty or 10 min are over. */
function play(world: readonly WorldPod[], policy: ReturnType<typeof aNodePolicy>, start: number): History {
  const steps: { seconds: number; step: Step; pods: readonly Pod[] }[] = [];
  let pods = world.map(({ pod }) => pod);
  let blockedSince: DrainRecord["blockedSince"] = {};
  const worldOf = (pod: Pod) => world.find((one) => one.pod.uid === pod.uid);
  const goneAt = new Map<string, number>();

  for (let seconds = start; seconds < 600; ) {
    pods = pods.filter((pod) => (goneAt.get(pod.uid) ?? Number.POSITIVE_INFINITY) > seconds);
    const now = at(seconds);
    const record: DrainRecord = {
      v: 1,
      signal: "s",
      decision: "draining",
      because: "",
      deadline: "",
      startedAt: "",
      blockedSince,
    };
    const step = decideStep({ now, signal, node: { ready: "True" }, pods, policy, record, relayElsewhere: false });
    steps.push({ seconds, step, pods });
    if (step.kind === "looks-empty" || step.kind === "unreachable") return { steps, left: pods, endedAt: seconds };
    if (step.kind === "evict") {
      const ends = new Map<string, number>();
      for (const { pod, graceSeconds, pastBudgetGraceSeconds, tier } of step.evictions) {
        const refused = worldOf(pod)?.protectedByBudget === true && pod.phase !== "Pending";
        if (refused && pastBudgetGraceSeconds === undefined)
          blockedSince = { [recordTier(tier)]: now.toISOString(), ...blockedSince };
        else ends.set(pod.uid, refused ? (pastBudgetGraceSeconds ?? 0) : (graceSeconds ?? pod.graceSeconds));
      }
      for (const { pod, graceSeconds } of step.tightenings) ends.set(pod.uid, graceSeconds);
      pods = pods.map((pod) => {
        const grace = ends.get(pod.uid);
        if (grace === undefined) return pod;
        goneAt.set(
          pod.uid,
          Math.min(
            goneAt.get(pod.uid) ?? Number.POSITIVE_INFINITY,
            seconds + Math.min(grace, worldOf(pod)?.stopSeconds ?? 0),
          ),
        );
        return { ...pod, deletionTimestamp: at(seconds + grace) };
      });
    }
    seconds += Math.max(1, Math.ceil(step.lookAgainSeconds));
  }
  return { steps, left: pods, endedAt: 600 };
}

/** Said again in other words than the code's, so that a slip there shows here. */
function isNobodysWork({ annotations, controller, phase, tolerations }: Pod): boolean {
  return (
    "kubernetes.io/config.mirror" in annotations ||
    ["DaemonSet", "Node"].includes(controller?.kind ?? "") ||
    ["Succeeded", "Failed"].includes(phase) ||
    tolerations.some(({ key }) => key === "nodekeeper.dev/interruption")
  );
}

const starts = fc.oneof(fc.integer({ min: 0, max: 10 }), fc.integer({ min: 0, max: 200 }));
const everyHistory = (check: (history: History, start: number) => void, runs = 400) =>
  fc.assert(
    fc.property(worldPods, policies, starts, (world, policy, start) => check(play(world, policy, start), start)),
    { numRuns: runs },
  );

const evictionsOf = ({ steps }: History) =>
  steps.flatMap(({ seconds, step }) =>
    step.kind === "evict" ? step.evictions.map((eviction) => ({ seconds, ...eviction })) : [],
  );

describe("for any pods, policy and delay of the notice", () => {
  it("case 15: no static, finished, DaemonSet's or tolerating pod is ever evicted, shortened or waited for", () => {
    everyHistory((history) => {
      for (const { pod } of evictionsOf(history)) expect(isNobodysWork(pod), pod.name).toBe(false);
      for (const { step } of history.steps) {
        if (step.kind === "evict")
          for (const { pod } of step.tightenings) expect(isNobodysWork(pod), pod.name).toBe(false);
      }
      for (const pod of history.left)
        expect(["skipped", "stuck"]).toContain(classifyPod(pod, at(history.endedAt)).kind);
    });
  });

  it("case 35: a grace that is sent is at least 1 s, never longer than the pod's own nor than what is left", () => {
    everyHistory((history) => {
      for (const { pod, seconds, graceSeconds, pastBudgetGraceSeconds } of evictionsOf(history)) {
        for (const grace of [graceSeconds, pastBudgetGraceSeconds]) {
          if (grace === undefined) continue;
          expect(grace).toBeGreaterThanOrEqual(1);
          expect(grace).toBeLessThanOrEqual(Math.max(1, pod.graceSeconds));
          expect(grace).toBeLessThanOrEqual(Math.max(1, secondsUntil(signal.deadline, at(seconds)) - 5));
        }
      }
    });
  });

  it("a node whose kubelet obeys is empty by the deadline, or seconds after a notice that came later", () => {
    everyHistory((history, start) => {
      expect(history.endedAt).toBeLessThanOrEqual(Math.max(120, start) + 10);
    });
  });

  it("no application ends after the deadline where the notice left any time at all", () => {
    everyHistory((history, start) => {
      if (start > 100) return;
      for (const { seconds, step, pods } of history.steps) {
        if (seconds >= 120 && step.kind !== "looks-empty") {
          for (const pod of pods) {
            const as = classifyPod(pod, at(seconds));
            expect(as.kind, `${pod.name} at +${seconds} s`).not.toBe("work");
            if (as.kind === "terminating") expect(secondsUntil(as.endsAt, signal.at)).toBeLessThanOrEqual(121);
          }
        }
      }
    });
  });

  it("a critical pod goes before an application is gone only when its own grace leaves no more time", () => {
    everyHistory((history) => {
      for (const { seconds, step, pods } of history.steps) {
        if (step.kind !== "evict") continue;
        const apps = pods.filter((pod) => {
          const as = classifyPod(pod, at(seconds));
          return (as.kind === "work" || as.kind === "terminating") && as.tier === "apps";
        });
        const early = step.evictions.some(({ tier }) => tier === "critical") && apps.length > 0;
        if (early) expect(seconds).toBeGreaterThanOrEqual(115 - 60);
      }
    });
  });

  it("every wait is between 1 and 3 s", () => {
    everyHistory(({ steps }) => {
      for (const { step } of steps) {
        if (step.kind !== "evict" && step.kind !== "wait") continue;
        expect(step.lookAgainSeconds).toBeGreaterThanOrEqual(1);
        expect(step.lookAgainSeconds).toBeLessThanOrEqual(3);
      }
    });
  });

  it("deciding after acting asks for nothing more: a pod that is ending in time is left to end", () => {
    everyHistory(({ steps }) => {
      for (const [index, { step }] of steps.entries()) {
        const next = steps[index + 1]?.step;
        if (step.kind !== "evict" || next?.kind !== "evict") continue;
        const tightened = new Set(step.tightenings.map(({ pod }) => pod.uid));
        for (const { pod } of next.tightenings) expect(tightened.has(pod.uid), pod.name).toBe(false);
      }
    });
  });
});
