/** Kubernetes Events of a drain: what `kubectl describe` shows. One that can't be posted is noted and never holds up the drain. */
import { type Pod, podName } from "../../../shared/domain/pod.ts";
import { signalName } from "../../../shared/domain/signal.ts";
import { type ClusterEvent, isClusterError } from "../../../shared/ports/cluster.ts";
import { reasonFor } from "../decide/record.ts";
import { type Drain, incidentOf } from "../drain.ts";
import type { DrainTools } from "../tools.ts";

type Told = Pick<ClusterEvent, "regarding" | "type" | "reason" | "note">;

export interface Blocked {
  readonly pod: Pod;
  readonly budget: string;
}

export async function tellStarted(drain: Drain, tools: DrainTools): Promise<void> {
  const note = `${reasonFor(drain.signal)} at ${drain.signal.deadline.toISOString()}: cordoned, draining (${signalName(drain.signal)})`;
  await tell({ regarding: onNode(drain), type: "Warning", reason: "InterruptionDrainStarted", note }, drain, tools);
}

export type Ending = { readonly how: "drained" | "unreachable" | "gave-up"; readonly because: string };

export async function tellEnded({ how, because }: Ending, drain: Drain, tools: DrainTools): Promise<void> {
  const told: Record<Ending["how"], Pick<Told, "type" | "reason">> = {
    drained: { type: "Normal", reason: "InterruptionDrained" },
    unreachable: { type: "Warning", reason: "InterruptionNodeUnreachable" },
    "gave-up": { type: "Warning", reason: "InterruptionDrainGivenUp" },
  };
  await tell({ regarding: onNode(drain), ...told[how], note: because }, drain, tools);
}

export async function tellBlocked({ pod, budget }: Blocked, drain: Drain, tools: DrainTools): Promise<void> {
  const note = `PodDisruptionBudget ${budget} refuses to evict ${podName(pod)} from ${drain.node.name}, which is interrupted at ${drain.signal.deadline.toISOString()}`;
  await tell({ regarding: onPod(pod), type: "Warning", reason: "EvictionBlocked", note }, drain, tools);
}

export async function tellDeletedPastBudget({ pod, budget }: Blocked, drain: Drain, tools: DrainTools): Promise<void> {
  const note = `deleted past PodDisruptionBudget ${budget}: ${drain.node.name} is interrupted at ${drain.signal.deadline.toISOString()} and its patience is over`;
  await tell({ regarding: onPod(pod), type: "Warning", reason: "DeletedPastBudget", note }, drain, tools);
}

function onNode({ node }: Drain): ClusterEvent["regarding"] {
  return { kind: "Node", name: node.name, uid: node.uid };
}

function onPod({ namespace, name, uid }: Pod): ClusterEvent["regarding"] {
  return { kind: "Pod", namespace, name, uid };
}

async function tell(told: Told, drain: Drain, { cluster, clock, note }: DrainTools): Promise<void> {
  try {
    await cluster.postEvent({ ...told, incident: incidentOf(drain), at: clock.now() });
  } catch (error) {
    if (!isClusterError(error)) throw error;
    note({ kind: "event-not-posted", because: error.message });
  }
}
