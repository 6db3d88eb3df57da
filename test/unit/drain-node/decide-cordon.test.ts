/** What the one patch writes, and that it is written once. */
import { describe, expect, it } from "vitest";
import { decideCordon } from "../../../functions/drain-node/decide/cordon.ts";
import { plusSeconds } from "../../../functions/drain-node/decide/times.ts";
import { type DrainRecord, writeDrainRecord } from "../../../shared/domain/drain-record.ts";
import {
  CORDONED_BY_ANNOTATION,
  DRAIN_ANNOTATION,
  DRAINING_LABEL,
  INSTANCE_ID_LABEL,
  INTERRUPTION_TAINT,
} from "../../../shared/domain/keys.ts";
import type { ClusterNode, NodeChange } from "../../../shared/domain/node.ts";
import { AN_INSTANCE_ID, aNode } from "../../builders/a-node.ts";
import { aNodePolicy } from "../../builders/a-policy.ts";
import { aSpotInterruption } from "../../builders/a-signal.ts";

const signal = aSpotInterruption();
const now = plusSeconds(signal.at, 2);
const OURS = `spot-interruption/${signal.id}`;

function changeOf(node: ClusterNode, about = signal, policy = aNodePolicy()): NodeChange | undefined {
  const decision = decideCordon(node, { signal: about, policy, now });
  return decision.kind === "cordon" ? decision.change : undefined;
}

function recordIn(change: NodeChange | undefined): unknown {
  return JSON.parse(change?.annotations?.[DRAIN_ANNOTATION] ?? "null");
}

/** The Node as it would be after the patch. */
function after(node: ClusterNode, change: NodeChange | undefined): ClusterNode {
  const strings = (map: Readonly<Record<string, string | undefined>> = {}) =>
    Object.fromEntries(Object.entries(map).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])));
  return {
    ...node,
    unschedulable: change?.unschedulable ?? node.unschedulable,
    taints: change?.taints ?? node.taints,
    labels: { ...node.labels, ...strings(change?.labels) },
    annotations: { ...node.annotations, ...strings(change?.annotations) },
  };
}

const aRecord = (given: Partial<DrainRecord>): string =>
  writeDrainRecord({
    v: 1,
    signal: "spot-interruption/other",
    decision: "draining",
    because: "test",
    deadline: signal.deadline.toISOString(),
    startedAt: signal.at.toISOString(),
    ...given,
  });

describe("the patch of a fresh node", () => {
  const change = changeOf(aNode({ labels: {} }));
  it("cordons, taints, labels and says why, in one", () => {
    expect(change).toMatchObject({
      unschedulable: true,
      labels: { [INSTANCE_ID_LABEL]: AN_INSTANCE_ID, [DRAINING_LABEL]: "involuntary" },
      annotations: { [CORDONED_BY_ANNOTATION]: OURS },
      taints: [{ key: INTERRUPTION_TAINT, value: "spot-interruption", effect: "NoSchedule" }],
    });
  });
  it("case 34: the annotation tells what happens, why and until when", () => {
    expect(recordIn(change)).toEqual({
      v: 1,
      signal: OURS,
      decision: "draining",
      because: "EC2 will terminate the spot instance",
      deadline: signal.deadline.toISOString(),
      startedAt: now.toISOString(),
    });
  });
});

describe("what is there already", () => {
  it("deciding after acting asks for nothing more", () => {
    const node = aNode({ labels: {} });
    expect(changeOf(after(node, changeOf(node)))).toBeUndefined();
  });
  it("other taints stay, for a merge patch replaces the whole list", () => {
    const gpu = { key: "nvidia.com/gpu", effect: "NoSchedule", timeAdded: "2026-01-01T00:00:00Z" } as const;
    expect(changeOf(aNode({ taints: [gpu] }))?.taints).toEqual([
      gpu,
      expect.objectContaining({ key: INTERRUPTION_TAINT }),
    ]);
  });
  it("a person's cordon stays a person's", () => {
    const change = changeOf(aNode({ unschedulable: true }));
    expect(change?.unschedulable).toBeUndefined();
    expect(change?.annotations).not.toHaveProperty(CORDONED_BY_ANNOTATION);
  });
  it("the policy may do without a taint, or with another effect", () => {
    expect(changeOf(aNode(), signal, aNodePolicy({ taint: "off" }))?.taints).toBeUndefined();
    const softly = changeOf(aNode(), signal, aNodePolicy({ taint: "PreferNoSchedule" }));
    expect(softly?.taints).toMatchObject([{ effect: "PreferNoSchedule" }]);
  });
});

describe("the record of another signal", () => {
  const withRecord = (given: Partial<DrainRecord>) => aNode({ annotations: { [DRAIN_ANNOTATION]: aRecord(given) } });
  it("stands while its drain is under way", () => {
    expect(recordIn(changeOf(withRecord({})))).toBeNull();
  });
  it("gives way to a signal that leaves less time, and its first refusals keep counting", () => {
    const blockedSince = { apps: signal.at.toISOString() };
    const later = plusSeconds(signal.deadline, 60).toISOString();
    expect(recordIn(changeOf(withRecord({ deadline: later, blockedSince })))).toMatchObject({
      signal: OURS,
      blockedSince,
    });
  });
  it("gives way when its drain is over, and its refusals are forgotten", () => {
    const ended = withRecord({
      decision: "drained",
      endedAt: plusSeconds(signal.at, -1).toISOString(),
      blockedSince: { apps: plusSeconds(signal.at, -60).toISOString() },
    });
    expect(recordIn(changeOf(ended))).toMatchObject({ signal: OURS });
    expect(recordIn(changeOf(ended))).not.toHaveProperty("blockedSince");
  });
  it("stands when its drain was over only after this signal came: both are of one interruption", () => {
    const ended = { ...withRecord({ decision: "drained", endedAt: now.toISOString() }), unschedulable: true };
    expect(recordIn(changeOf(ended))).toBeNull();
    expect(changeOf(ended)?.labels).toBeUndefined();
  });
  it.each(['{"v":2,"anything":true}', "no JSON", "{}"])("of an unknown version is left alone: %s", (annotation) => {
    expect(recordIn(changeOf(aNode({ annotations: { [DRAIN_ANNOTATION]: annotation } })))).toBeNull();
  });
  it("gives way when its drain is over and somebody put the node to use again", () => {
    const used = aNode({
      annotations: { [DRAIN_ANNOTATION]: aRecord({ signal: OURS, decision: "drained", endedAt: now.toISOString() }) },
      labels: { [INSTANCE_ID_LABEL]: AN_INSTANCE_ID, [DRAINING_LABEL]: "drained" },
    });
    expect(recordIn(changeOf(used))).toMatchObject({ decision: "draining" });
    expect(changeOf(used)?.labels).toEqual({ [DRAINING_LABEL]: "involuntary" });
  });
  it("a node that was seen empty for this very signal keeps its label", () => {
    const annotations = {
      [DRAIN_ANNOTATION]: aRecord({ signal: OURS, decision: "drained", endedAt: now.toISOString() }),
    };
    const node = aNode({
      annotations,
      unschedulable: true,
      labels: { [INSTANCE_ID_LABEL]: AN_INSTANCE_ID, [DRAINING_LABEL]: "drained" },
    });
    expect(changeOf(node)?.labels).toBeUndefined();
  });
});

describe("a taint that admission refused", () => {
  const refused = decideCordon(aNode(), { signal, policy: aNodePolicy(), now, taintRefused: "webhook says no" });
  const change = refused.kind === "cordon" ? refused.change : undefined;
  it("is left out, and the record says why", () => {
    expect(change?.taints).toBeUndefined();
    expect(change?.unschedulable).toBe(true);
    expect(recordIn(change)).toMatchObject({ taintRefused: "webhook says no" });
  });
  it("is not asked for again", () => {
    expect(changeOf(after(aNode(), change))).toBeUndefined();
  });
});
