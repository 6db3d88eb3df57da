/** Carries out what was decided of one node. */

import {
  FENCING_RECORD_ANNOTATION,
  type FencingRecord,
  readFencingRecord,
} from "../../../shared/domain/fencing-record.ts";
import { instanceIdOf } from "../../../shared/domain/instance-id.ts";
import type { ClusterNode } from "../../../shared/domain/node.ts";
import type { NodePolicy } from "../../../shared/domain/policy.ts";
import { InstancesUnavailable } from "../../../shared/ports/instances.ts";
import type { FencingDecision, NodeFacts } from "../decide/fencing.ts";
import { cordonChange, liftChange, recordChange } from "../decide/marks.ts";
import type { FenceTools } from "../tools.ts";
import { endNode } from "./end-node.ts";
import { markNode } from "./mark-node.ts";
import { tell } from "./tell.ts";

/** Whether more can be decided at once. */
export async function carryOut(decision: FencingDecision, facts: NodeFacts, tools: FenceTools): Promise<boolean> {
  switch (decision.kind) {
    case "nothing":
      return false;
    case "report":
      await tellOf(facts, { type: "Warning", reason: "KubeletSilent", note: decision.because }, tools);
      return false;
    case "hold":
      if (decision.reason !== "silent" && decision.reason !== "fenced")
        await tellOf(
          facts,
          { type: "Warning", reason: "FencingHeld", note: decision.because, about: decision.reason },
          tools,
        );
      return false;
    case "cordon":
      return cordon(decision, facts, tools);
    case "stop":
      await endInstance(decision, facts, tools);
      return false;
    case "fence": {
      const record = recordOn(facts.node);
      if (record) await endNode({ facts, record, decision }, tools);
      return false;
    }
    case "lift":
      await lift(decision, facts, tools);
      return false;
  }
}

async function cordon(
  { because, next }: Extract<FencingDecision, { kind: "cordon" }>,
  facts: NodeFacts,
  tools: FenceTools,
): Promise<boolean> {
  const { silence, policy } = facts;
  if (silence === undefined) return false;
  const now = tools.clock.now();
  // A conflict may be the node's own status coming back: then this changes nothing, and the next decision says so.
  const changeFor = (taint: NodePolicy["taint"]) => (fresh: ClusterNode) =>
    fresh.ready === "True" ? undefined : cordonChange(fresh, { silence, because, now, policy: { taint } });
  // What admission refuses is tried without the taint: a dead node's pods must not wait for one.
  const node =
    (await markNode(facts.node, changeFor(policy.taint), tools)) ??
    (await markNode(facts.node, changeFor("off"), tools));
  if (node === undefined) return false;
  await tellOf(
    { ...facts, node },
    { type: "Warning", reason: "NodeSilent", note: `cordoned: ${because}; ${next}` },
    tools,
  );
  return true;
}

/** Asked first and noted then: asking twice is harmless, having noted what was never asked isn't. */
async function endInstance(
  { how, because }: Extract<FencingDecision, { kind: "stop" }>,
  facts: NodeFacts,
  tools: FenceTools,
): Promise<void> {
  const { node } = facts;
  const id = instanceIdOf(node.providerId);
  const record = recordOn(node);
  if (id === undefined || record === undefined) return;
  try {
    await tools.instances.endInstance(id, how);
  } catch (error) {
    if (!(error instanceof InstancesUnavailable)) throw error;
    tools.note({ kind: "instance-not-ended", nodeName: node.name, because: error.message });
    return;
  }
  const stopping: FencingRecord = { ...record, phase: "stopping", stop: { how, at: tools.clock.now().toISOString() } };
  await markNode(node, (fresh) => recordChange(fresh, stopping), tools);
  await tellOf(
    facts,
    { type: "Warning", reason: "InstanceEnded", note: `asked EC2 to ${how} ${id}: ${because}` },
    tools,
  );
}

async function lift(
  { record, because }: Extract<FencingDecision, { kind: "lift" }>,
  facts: NodeFacts,
  tools: FenceTools,
): Promise<void> {
  const node = await markNode(facts.node, (fresh) => liftChange(fresh, record), tools);
  if (node)
    await tellOf(facts, { type: "Normal", reason: "NodeHeardAgain", note: `no longer fenced: ${because}` }, tools);
}

type Told = Pick<Parameters<typeof tell>[1], "type" | "reason" | "note"> & { readonly about?: string };

/** One Event for each reason while a node is silent: its Leases tell one silence from the next. */
async function tellOf({ node, silence }: NodeFacts, { about = "", ...told }: Told, tools: FenceTools): Promise<void> {
  const since = recordOn(node)?.startedAt ?? silence?.kubelet?.resourceVersion ?? silence?.agent?.resourceVersion;
  await tell(node, { ...told, incident: `fencing/${since}/${about}` }, tools);
}

function recordOn({ annotations }: ClusterNode): FencingRecord | undefined {
  const reading = readFencingRecord(annotations[FENCING_RECORD_ANNOTATION]);
  return reading.kind === "record" ? reading.record : undefined;
}
