/** What is decided of one node: the table, and what holds whatever the facts are. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decideFencing, type NodeFacts } from "../../../functions/fence-node/decide/fencing.ts";
import {
  armedChange,
  cordonChange,
  liftChange,
  outOfServiceChange,
  recordChange,
} from "../../../functions/fence-node/decide/marks.ts";
import {
  FENCING_RECORD_ANNOTATION,
  type FencingRecord,
  writeFencingRecord,
} from "../../../shared/domain/fencing-record.ts";
import { CORDONED_BY_ANNOTATION, FENCING_ENABLED_LABEL, MAINTENANCE_ANNOTATIONS } from "../../../shared/domain/keys.ts";
import type { ClusterNode, NodeChange } from "../../../shared/domain/node.ts";
import { aNode } from "../../builders/a-node.ts";
import { aNodePolicy } from "../../builders/a-policy.ts";
import { aLease, aSilence, aStatement, OBSERVED_AT, secondsBefore, someFacts } from "../../builders/fencing-facts.ts";

const aRecord = (given: Partial<FencingRecord> = {}): FencingRecord => ({
  v: 1,
  phase: "cordoned",
  uid: "uid-of-node-1",
  bootId: "boot-1",
  because: "silent",
  leases: { agent: "a1", kubelet: "k1" },
  startedAt: "2026-01-01T11:57:00.000Z",
  cordoned: true,
  ...given,
});
const marked = (given: Partial<FencingRecord> = {}, node: Partial<ClusterNode> = {}) =>
  aNode({
    ready: "Unknown",
    unschedulable: true,
    ...node,
    annotations: { ...node.annotations, [FENCING_RECORD_ANNOTATION]: writeFencingRecord(aRecord(given)) },
  });
const fencing = (given: Parameters<typeof aNodePolicy>[0]) => aNodePolicy(given);
const TERMINATED = { kind: "listed", state: "terminated", isSpot: false, group: undefined } as const;
const WATCHDOG = { kind: "statement", statement: aStatement({ mode: "watchdog" }) } as const;
const BY_WATCHDOG = fencing({ fencing: { enabled: true, proof: "watchdog", stop: "never" } });

describe("one node", () => {
  it.each<[string, Partial<NodeFacts>, string, string]>([
    ["whose Leases are renewed", { silence: aSilence(10) }, "nothing", "are renewed"],
    ["without any Lease", { silence: undefined }, "nothing", "no Lease"],
    ["silent for 40 s", { silence: aSilence(40) }, "hold", "not confirmed yet"],
    [
      "that was suspected only 29 s before",
      { silence: aSilence(89, { suspectedAt: secondsBefore(29) }) },
      "hold",
      "not confirmed",
    ],
    ["that is silent for certain", {}, "cordon", "in 21 looks"],
    ["of another controller", { isIgnored: true }, "nothing", "another controller"],
    ["without fencing in its policy", { policy: aNodePolicy() }, "nothing", "no fencing"],
    ["that is Ready all the same", { node: aNode() }, "hold", "Ready all the same"],
    [
      "that somebody works on",
      { node: aNode({ ready: "Unknown", annotations: { [MAINTENANCE_ANNOTATIONS[1]]: "" } }) },
      "hold",
      "works on it",
    ],
    ["while the brake holds", { brake: "3 of 20 nodes are silent" }, "hold", "3 of 20"],
    ["whose agent renewed since", { agentLease: aLease("a2") }, "nothing", "agent's Lease has moved"],
    ["whose kubelet renewed since", { kubeletLease: aLease("k2") }, "nothing", "kubelet's Lease has moved"],
    ["whose agent's Lease is gone since", { agentLease: undefined }, "nothing", "agent's Lease has moved"],
    [
      "whose kubelet alone is silent",
      {
        silence: aSilence(300, {
          agent: { resourceVersion: "a1", firstSeenAt: secondsBefore(5) },
          suspectedAt: undefined,
        }),
      },
      "report",
      "kubelet hasn't for 300 s",
    ],
    [
      "with a record that isn't understood",
      { node: aNode({ ready: "Unknown", annotations: { [FENCING_RECORD_ANNOTATION]: "{}" } }) },
      "hold",
      "not understood",
    ],
  ])("%s", (_, given, kind, because) => {
    const decision = decideFencing(someFacts(given));
    expect(decision).toMatchObject({ kind, because: expect.stringContaining(because) });
  });

  it.each<[string, Partial<NodeFacts>, string, string]>([
    ["and EC2 says terminated", { instance: TERMINATED }, "fence", "EC2 says terminated"],
    ["and EC2 says stopped", { instance: { ...TERMINATED, state: "stopped" } }, "fence", "EC2 says stopped"],
    [
      "and EC2 says shutting-down",
      { instance: { ...TERMINATED, state: "shutting-down" } },
      "hold",
      "EC2 says shutting-down",
    ],
    ["and EC2 says stopping", { instance: { ...TERMINATED, state: "stopping" } }, "hold", "EC2 says stopping"],
    ["and EC2 says pending", { instance: { ...TERMINATED, state: "pending" } }, "hold", "EC2 says pending"],
    ["and EC2 doesn't list it", { instance: { kind: "not-listed" } }, "hold", "proves nothing"],
    ["and EC2 couldn't be asked", { instance: { kind: "unavailable", because: "denied" } }, "hold", "denied"],
    ["and has no instance", { instance: { kind: "no-instance" } }, "hold", "no instance of EC2"],
    ["and runs, for long enough", {}, "stop", "nothing was heard for 300 s"],
    ["and runs, not for long enough", { silence: aSilence(179) }, "hold", "stopped after 180 s, silent for 179 s"],
    [
      "and runs, and was told to stop",
      { node: marked({ stop: { how: "stop", at: "2026-01-01T11:59:00Z" } }) },
      "hold",
      "told to stop",
    ],
    [
      "and runs, where nobody is ever stopped",
      { policy: fencing({ fencing: { enabled: true, stop: "never" } }) },
      "hold",
      "never stops",
    ],
    [
      "and runs, in mode notify",
      { statement: { kind: "statement", statement: aStatement({ mode: "notify" }) } },
      "hold",
      "mode notify",
    ],
    [
      "and runs, with an agent that isn't understood",
      { statement: { kind: "unreadable", because: "v" } },
      "hold",
      "isn't understood",
    ],
    [
      "and runs, of type Static",
      { node: marked({}, { labels: { "node.deckhouse.io/type": "Static" } }) },
      "hold",
      "static",
    ],
    [
      "and its dog must have barked",
      { policy: BY_WATCHDOG, statement: WATCHDOG },
      "fence",
      "for 300 s of T_safe 3 x W 60 s",
    ],
    [
      "and its dog has time left",
      { policy: BY_WATCHDOG, statement: WATCHDOG, silence: aSilence(186) },
      "hold",
      "for 186 s of T_safe",
    ],
    [
      "and its dog had its time exactly",
      { policy: BY_WATCHDOG, statement: WATCHDOG, silence: aSilence(187) },
      "fence",
      "187 s",
    ],
    [
      "whose agent was heard of before its kubelet, counting from the agent's last",
      {
        policy: BY_WATCHDOG,
        statement: WATCHDOG,
        silence: aSilence(187, { kubelet: { resourceVersion: "k1", firstSeenAt: secondsBefore(172) } }),
      },
      "fence",
      "187 s",
    ],
    [
      "whose kubelet was heard of before its agent, counting from the agent's last",
      {
        policy: BY_WATCHDOG,
        statement: WATCHDOG,
        silence: aSilence(187, { agent: { resourceVersion: "a1", firstSeenAt: secondsBefore(172) } }),
      },
      "hold",
      "172 s",
    ],
    [
      "whose kubelet went on for 11 s after the agent",
      { policy: BY_WATCHDOG, statement: WATCHDOG, kubeletLease: aLease("k1", { renewTime: secondsBefore(294) }) },
      "hold",
      "went on after its agent",
    ],
    [
      "that was booted since its last Lease",
      { policy: BY_WATCHDOG, statement: WATCHDOG, node: marked({ bootId: "boot-2" }, { bootId: "boot-2" }) },
      "hold",
      "another boot",
    ],
    ["that is fenced and stays", { node: marked({ phase: "fenced" }), instance: TERMINATED }, "hold", "its Node stays"],
    [
      "that was booted since it was cordoned",
      { node: marked({ bootId: "boot-0" }), instance: TERMINATED },
      "hold",
      "booted since",
    ],
    ["that is Ready again", { node: marked({}, { ready: "True" }) }, "lift", "Ready again"],
    ["whose agent is heard again", { agentLease: aLease("a2") }, "lift", "agent's Lease moved"],
    [
      "whose kubelet is heard again, though a brake holds",
      { kubeletLease: aLease("k2"), brake: "3 of 20" },
      "lift",
      "kubelet's Lease moved",
    ],
    ["whose count began anew", { silence: aSilence(0), instance: TERMINATED }, "nothing", "renewed"],
  ])("under fencing %s", (_, given, kind, because) => {
    const decision = decideFencing(someFacts({ node: marked(), ...given }));
    expect(decision).toMatchObject({ kind, because: expect.stringContaining(because) });
  });

  it.each([
    [{ isSpot: true, group: undefined }, "terminate"],
    [{ isSpot: false, group: "workers" }, "terminate"],
    [{ isSpot: false, group: undefined }, "stop"],
  ])("an instance %j is told to %s", (instance, how) => {
    const decision = decideFencing(
      someFacts({ node: marked(), instance: { kind: "listed", state: "running", ...instance } }),
    );
    expect(decision).toMatchObject({ kind: "stop", how });
  });

  it("tells with its cordon what is known about its death", () => {
    expect(decideFencing(someFacts({ instance: TERMINATED }))).toMatchObject({ next: "EC2 says terminated" });
  });

  it("keeps its Node where it is static", () => {
    const node = marked({}, { labels: { "node.deckhouse.io/type": "CloudStatic" } });
    expect(decideFencing(someFacts({ node, instance: TERMINATED }))).toMatchObject({ kind: "fence", nodeGoes: false });
    expect(decideFencing(someFacts({ node: marked(), instance: TERMINATED }))).toMatchObject({ nodeGoes: true });
  });
});

const anything = fc
  .record({
    ready: fc.constantFrom("True", "False", "Unknown"),
    maintained: fc.boolean(),
    recorded: fc.constantFrom<FencingRecord["phase"] | undefined>(
      undefined,
      "cordoned",
      "stopping",
      "fencing",
      "fenced",
    ),
    agent: fc.option(fc.integer({ min: 0, max: 400 }), { nil: undefined }),
    kubelet: fc.option(fc.integer({ min: 0, max: 400 }), { nil: undefined }),
    suspectedFor: fc.option(fc.integer({ min: 0, max: 400 }), { nil: undefined }),
    agentNow: fc.constantFrom("a1", "a2", undefined),
    kubeletNow: fc.constantFrom("k1", "k1", "k2"),
    state: fc.constantFrom("running", "pending", "stopping", "stopped", "shutting-down", "terminated", "unlisted"),
    mode: fc.constantFrom("watchdog", "local", "notify"),
    armed: fc.boolean(),
    proof: fc.constantFrom("ec2", "watchdog"),
    brake: fc.constantFrom(undefined, "too many"),
    bootNow: fc.constantFrom("boot-1", "boot-2"),
  })
  .map((it): NodeFacts => {
    const annotations = {
      ...(it.recorded && { [FENCING_RECORD_ANNOTATION]: writeFencingRecord(aRecord({ phase: it.recorded })) }),
      ...(it.maintained && { [MAINTENANCE_ANNOTATIONS[0]]: "" }),
    } as const;
    const still = (resourceVersion: string, seconds: number | undefined) =>
      seconds === undefined ? undefined : { resourceVersion, firstSeenAt: secondsBefore(seconds) };
    return someFacts({
      node: aNode({ ready: it.ready === "True" ? "True" : "Unknown", annotations, bootId: it.bootNow }),
      silence: aSilence(0, {
        agent: still("a1", it.agent),
        kubelet: still("k1", it.kubelet),
        suspectedAt: it.suspectedFor === undefined ? undefined : secondsBefore(it.suspectedFor),
      }),
      agentLease: it.agentNow && aLease(it.agentNow),
      kubeletLease: aLease(it.kubeletNow),
      instance: it.state === "unlisted" ? { kind: "not-listed" } : { ...TERMINATED, state: it.state },
      statement: { kind: "statement", statement: aStatement({ mode: it.mode, armed: it.armed }) },
      policy: aNodePolicy({ fencing: { enabled: true, proof: it.proof } }),
      brake: it.brake,
    });
  });

describe("whatever the facts are", () => {
  const properties = (check: (facts: NodeFacts) => void) => fc.assert(fc.property(anything, check), { numRuns: 5_000 });

  it("nobody is fenced without proof of death", () => {
    properties((facts) => {
      const decision = decideFencing(facts);
      if (decision.kind !== "fence") return;
      const { instance, silence, policy, statement } = facts;
      const byEc2 = instance.kind === "listed" && ["stopped", "terminated"].includes(instance.state);
      const waited = (OBSERVED_AT.getTime() - (silence?.agent?.firstSeenAt.getTime() ?? Number.NaN)) / 1000;
      const dog =
        statement.kind === "statement" && statement.statement.mode === "watchdog" && statement.statement.armed;
      const byDog = policy.fencing.proof === "watchdog" && dog && waited >= 187;
      expect(byEc2 || byDog).toBe(true);
    });
  });

  it("nothing is done against a node that is Ready, renewed, worked on, or behind a brake", () => {
    properties((facts) => {
      const { node, silence, agentLease, kubeletLease, brake } = facts;
      const isFine =
        node.ready === "True" ||
        node.annotations[MAINTENANCE_ANNOTATIONS[0]] !== undefined ||
        brake !== undefined ||
        agentLease?.resourceVersion !== silence?.agent?.resourceVersion ||
        kubeletLease?.resourceVersion !== silence?.kubelet?.resourceVersion;
      if (isFine) expect(["nothing", "report", "hold", "lift"]).toContain(decideFencing(facts).kind);
    });
  });

  it("nothing is done before a suspicion was confirmed 30 s later", () => {
    properties((facts) => {
      const { suspectedAt } = facts.silence ?? {};
      const since = suspectedAt ? (OBSERVED_AT.getTime() - suspectedAt.getTime()) / 1000 : 0;
      if (since < 30) expect(["nothing", "report", "hold", "lift"]).toContain(decideFencing(facts).kind);
    });
  });

  it("having cordoned, it never asks for the cordon again", () => {
    properties((facts) => {
      const { silence, node } = facts;
      if (silence === undefined || decideFencing(facts).kind !== "cordon") return;
      const change = cordonChange(node, { silence, because: "silent", now: OBSERVED_AT, policy: facts.policy });
      const next = decideFencing({ ...facts, node: changed(node, change) });
      expect(["stop", "fence", "hold"]).toContain(next.kind);
    });
  });
});

function changed(node: ClusterNode, change: NodeChange | undefined): ClusterNode {
  const merged = (before: ClusterNode["labels"], by: NodeChange["labels"] = {}) =>
    Object.fromEntries(
      Object.entries({ ...before, ...by }).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])),
    );
  const labels = merged(node.labels, change?.labels);
  return { ...node, ...change, labels, annotations: merged(node.annotations, change?.annotations) };
}

describe("marks on a node", () => {
  const policy = aNodePolicy();
  const cordoning = { silence: aSilence(300), because: "silent", now: OBSERVED_AT, policy };
  const nodes = fc.record({
    unschedulable: fc.boolean(),
    cordonedBy: fc.constantFrom(undefined, "spot-interruption/1"),
    taints: fc.constantFrom<ClusterNode["taints"]>(
      [],
      [{ key: "nodekeeper.dev/interruption", value: "spot-interruption", effect: "NoSchedule" }],
      [{ key: "node.kubernetes.io/unreachable", effect: "NoExecute", timeAdded: "2026-01-01T11:59:00Z" }],
      [{ key: "node.kubernetes.io/out-of-service", value: "nodeshutdown", effect: "NoExecute" }],
    ),
  });

  it("are all taken off again, and nothing else with them", () => {
    fc.assert(
      fc.property(nodes, ({ unschedulable, cordonedBy, taints }) => {
        const annotations = cordonedBy === undefined ? {} : { [CORDONED_BY_ANNOTATION]: cordonedBy };
        // A cordon that is marked is there.
        const before = aNode({ unschedulable: unschedulable || cordonedBy !== undefined, annotations, taints });
        const cordoned = changed(before, cordonChange(before, cordoning));
        expect(cordoned.unschedulable).toBe(true);
        expect(cordonChange(cordoned, cordoning)).toBeUndefined();
        const { cordoned: isOurs } = JSON.parse(cordoned.annotations[FENCING_RECORD_ANNOTATION] ?? "");
        const lifted = changed(cordoned, liftChange(cordoned, aRecord({ cordoned: isOurs })));
        expect(lifted).toEqual(before);
        expect(liftChange(lifted, aRecord())).toBeUndefined();
      }),
    );
  });

  it("out of service is written once, and taken off only where there was proof", () => {
    const node = aNode();
    const out = changed(node, outOfServiceChange(node));
    expect(outOfServiceChange(out)).toBeUndefined();
    const ours = changed(out, { annotations: { [FENCING_RECORD_ANNOTATION]: writeFencingRecord(aRecord()) } });
    const proof = { kind: "ec2", because: "EC2 says stopped", at: "2026-01-01T11:59:00Z" } as const;
    expect(changed(ours, liftChange(ours, aRecord({ proof }))).taints).toEqual([]);
    expect(changed(ours, liftChange(ours, aRecord())).taints).toEqual(out.taints);
  });

  it("a node that is drained meanwhile stays cordoned", () => {
    const node = aNode();
    const cordoned = changed(node, cordonChange(node, cordoning));
    const drained = changed(cordoned, { labels: { "nodekeeper.dev/draining": "involuntary" } });
    expect(changed(drained, liftChange(drained, aRecord())).unschedulable).toBe(true);
  });

  it("the taint is left out where the policy wants none", () => {
    expect(cordonChange(aNode(), { ...cordoning, policy: { taint: "off" } })?.taints).toBeUndefined();
  });

  it("a record is written only when it changes", () => {
    expect(recordChange(marked(), aRecord())).toBeUndefined();
    expect(recordChange(marked(), aRecord({ phase: "fenced" }))).toBeDefined();
  });

  it.each([
    [{ [FENCING_ENABLED_LABEL]: "" }, true, undefined],
    [{}, true, { [FENCING_ENABLED_LABEL]: "" }],
    [{ [FENCING_ENABLED_LABEL]: "" }, false, { [FENCING_ENABLED_LABEL]: undefined }],
    [{}, false, undefined],
  ])("labels %j of an agent with armed=%s", (labels, armed, expected) => {
    const change = armedChange({ ...aNode(), labels }, { kind: "statement", statement: aStatement({ armed }) });
    expect(change?.labels).toEqual(expected);
  });
});
