/** Whose node a signal means, and whether anything is to be done about it. */
import { describe, expect, it } from "vitest";
import { decideIdentity, decideStranger, decideTarget } from "../../../functions/drain-node/decide/target.ts";
import { plusSeconds } from "../../../functions/drain-node/decide/times.ts";
import { DRAIN_ANNOTATION, KARPENTER_NODEPOOL_LABEL } from "../../../shared/domain/keys.ts";
import { AN_INSTANCE_ID, aNode, providerIdOf } from "../../builders/a-node.ts";
import { aPolicy } from "../../builders/a-policy.ts";
import { aSpotInterruption } from "../../builders/a-signal.ts";

const signal = aSpotInterruption();
const at = (seconds: number) => plusSeconds(signal.at, seconds);

describe("identity is the instance id at the end of providerID", () => {
  it("case 14: a node is found by it, whatever its name", () => {
    const node = aNode({ name: "worker-blue.example.internal" });
    expect(decideIdentity(AN_INSTANCE_ID, [node])).toEqual({ kind: "node", node });
  });
  it("nobody has it", () => {
    expect(decideIdentity(AN_INSTANCE_ID, [])).toEqual({ kind: "none" });
  });
  it("two nodes that claim it are reported, neither is touched", () => {
    const answer = decideIdentity(AN_INSTANCE_ID, [aNode({ name: "a" }), aNode({ name: "b" })]);
    expect(answer).toMatchObject({ kind: "ambiguous", because: expect.stringContaining("a, b") });
  });
  it.each([
    ["another instance", providerIdOf("i-0fffffffffffffff0")],
    ["another cloud", `gce://project/zone/${AN_INSTANCE_ID}`],
    ["nothing", undefined],
  ])("a label that providerID doesn't bear out (it names %s) is reported", (_, providerId) => {
    expect(decideIdentity(AN_INSTANCE_ID, [aNode({ providerId })]).kind).toBe("ambiguous");
  });
});

describe("nodes that are not to be touched", () => {
  it("case 33: a node of Karpenter's, by default", () => {
    const node = aNode({ labels: { [KARPENTER_NODEPOOL_LABEL]: "default" } });
    expect(decideTarget(signal, { node: node, policy: aPolicy() }, at(1))).toMatchObject({
      decision: "ignored",
      outcome: { kind: "done" },
    });
  });
  it("case 33: a node that matches an ignore selector of ours", () => {
    const policy = aPolicy({ ignore: [{ matchLabels: { team: "other" }, matchExpressions: [] }] });
    expect(decideTarget(signal, { node: aNode({ labels: { team: "other" } }), policy: policy }, at(1))).toMatchObject({
      decision: "ignored",
    });
    expect(decideTarget(signal, { node: aNode({ labels: { team: "ours" } }), policy: policy }, at(1))).toBeUndefined();
  });
  it.each([
    ["a fresh signal counts", 1, "True", undefined],
    ["a late one counts for 5 min past its deadline", 420, "True", undefined],
    ["after that a Ready node disproves it", 421, "True", "stale"],
    ["a node that isn't Ready doesn't", 421, "False", undefined],
    ["nor does one that nobody hears of", 421, "Unknown", undefined],
  ] as const)("%s (+%d s, Ready %s)", (_, now, ready, decision) => {
    expect(decideTarget(signal, { node: aNode({ ready }), policy: aPolicy() }, at(now))?.decision).toBe(decision);
  });
});

describe("a drain that goes on", () => {
  const record = (given: object) => ({
    [DRAIN_ANNOTATION]: JSON.stringify({
      ...{ v: 1, signal: "spot-interruption/x", decision: "draining", because: "test" },
      ...{ deadline: signal.deadline.toISOString(), startedAt: signal.at.toISOString(), ...given },
    }),
  });
  it.each([
    ["is not called stale, however late: its own bound ends it", {}, true, undefined],
    ["is, once it has ended", { endedAt: signal.deadline.toISOString() }, true, "stale"],
    ["is, once somebody put the node to use again", {}, false, "stale"],
  ])("%s", (_, given, unschedulable, decision) => {
    const node = aNode({ annotations: record(given), unschedulable });
    expect(decideTarget(signal, { node: node, policy: aPolicy() }, at(421))?.decision).toBe(decision);
  });
});

describe("an instance that no Node has", () => {
  const ours = { kind: "listed", state: "running", tags: { "kubernetes.io/cluster/blue": "owned" } } as const;
  const tag = { name: "kubernetes.io/cluster/blue" };
  it.each([
    ["EC2 doesn't list it", { kind: "not-listed" }, tag, "foreign", "done"],
    ["it carries no tag of ours", { ...ours, tags: {} }, tag, "foreign", "done"],
    [
      "case 2: it is of another cluster",
      { ...ours, tags: { "kubernetes.io/cluster/red": "owned" } },
      tag,
      "foreign",
      "done",
    ],
    ["the tag has another value", ours, { ...tag, value: "shared" }, "foreign", "done"],
    ["it is ours and has yet to join", ours, tag, "not-joined", "again"],
    ["it is ours and terminated", { ...ours, state: "terminated" }, tag, "node-gone", "done"],
    [
      "EC2 throttles or denies: never taken for not listed",
      { kind: "unavailable", because: "x" },
      tag,
      "not-joined",
      "again",
    ],
  ] as const)("%s", (_, answer, requireTag, decision, outcome) => {
    expect(decideStranger(signal, { answer, requireTag }, at(1))).toMatchObject({
      decision,
      outcome: { kind: outcome },
    });
  });
  it("is looked for until the signal's time is over, no longer", () => {
    expect(decideStranger(signal, { answer: ours, requireTag: tag }, at(119)).outcome).toMatchObject({
      kind: "again",
      afterSeconds: 5,
    });
    expect(decideStranger(signal, { answer: ours, requireTag: tag }, at(120)).outcome.kind).toBe("done");
  });
});
