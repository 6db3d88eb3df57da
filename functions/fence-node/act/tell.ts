/** Kubernetes Events of fencing: what `kubectl describe` shows. One that can't be posted is noted and holds nothing up. */
import type { ClusterNode } from "../../../shared/domain/node.ts";
import { type ClusterEvent, isClusterError } from "../../../shared/ports/cluster.ts";
import type { FenceTools } from "../tools.ts";

/** UpperCamelCase, constants: what an operator filters by. */
export type Reason = "NodeSilent" | "FencingHeld" | "InstanceEnded" | "NodeFenced" | "NodeHeardAgain" | "KubeletSilent";

interface Told extends Pick<ClusterEvent, "type" | "note" | "incident"> {
  readonly reason: Reason;
}

export async function tell(
  { name, uid }: ClusterNode,
  told: Told,
  { cluster, clock, note }: FenceTools,
): Promise<void> {
  try {
    await cluster.postEvent({ ...told, regarding: { kind: "Node", name, uid }, at: clock.now() });
  } catch (error) {
    if (!isClusterError(error)) throw error;
    note({ kind: "event-not-posted", because: error.message });
  }
}
