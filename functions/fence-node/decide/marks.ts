/** What fencing writes on a Node, and takes off again: only ever what is its own. */
import {
  FENCING_RECORD_ANNOTATION,
  type FencingRecord,
  fencingName,
  writeFencingRecord,
} from "../../../shared/domain/fencing-record.ts";
import {
  CORDONED_BY_ANNOTATION,
  DRAINING_LABEL,
  FENCING_ENABLED_LABEL,
  INTERRUPTION_TAINT,
} from "../../../shared/domain/keys.ts";
import type { ClusterNode, NodeChange, Taint } from "../../../shared/domain/node.ts";
import type { NodePolicy } from "../../../shared/domain/policy.ts";
import type { FencingStatementReading } from "../../../shared/domain/read-fencing-lease.ts";
import type { NodeSilence } from "./observations.ts";

const TAINT_VALUE = "fencing";

/**
 * Says that a node is down for certain: its volumes may be detached by force.
 * https://kubernetes.io/docs/concepts/cluster-administration/node-shutdown/#non-graceful-node-shutdown
 */
const OUT_OF_SERVICE: Taint = { key: "node.kubernetes.io/out-of-service", value: "nodeshutdown", effect: "NoExecute" };

interface Cordoning {
  readonly silence: NodeSilence;
  readonly because: string;
  readonly now: Date;
  readonly policy: Pick<NodePolicy, "taint">;
}

/** Undefined where it has a record already. Who cordoned before keeps the cordon: we mark, and later lift, only our own. */
export function cordonChange(node: ClusterNode, { silence, because, now, policy }: Cordoning): NodeChange | undefined {
  if (node.annotations[FENCING_RECORD_ANNOTATION] !== undefined) return undefined;
  const record: FencingRecord = {
    v: 1,
    phase: "cordoned",
    uid: node.uid,
    ...(node.bootId !== undefined && { bootId: node.bootId }),
    because,
    leases: {
      ...(silence.agent && { agent: silence.agent.resourceVersion }),
      ...(silence.kubelet && { kubelet: silence.kubelet.resourceVersion }),
    },
    startedAt: now.toISOString(),
    cordoned: !node.unschedulable,
  };
  const isTainted = node.taints.some(({ key, effect }) => key === INTERRUPTION_TAINT && effect === "NoSchedule");
  // Without NoExecute, whatever the policy: nobody there can end pods, and we end them ourselves.
  const ours: Taint = { key: INTERRUPTION_TAINT, value: TAINT_VALUE, effect: "NoSchedule" };
  return {
    ...(record.cordoned && { unschedulable: true }),
    annotations: {
      ...(record.cordoned && { [CORDONED_BY_ANNOTATION]: fencingName(node.uid) }),
      [FENCING_RECORD_ANNOTATION]: writeFencingRecord(record),
    },
    ...(policy.taint !== "off" && !isTainted && { taints: [...node.taints, ours] }),
  };
}

/** Undefined where it stands there already. */
export function recordChange(node: ClusterNode, record: FencingRecord): NodeChange | undefined {
  const text = writeFencingRecord(record);
  return node.annotations[FENCING_RECORD_ANNOTATION] === text
    ? undefined
    : { annotations: { [FENCING_RECORD_ANNOTATION]: text } };
}

/** Undefined where it is out of service already. */
export function outOfServiceChange({ taints }: ClusterNode): NodeChange | undefined {
  return taints.some(isOutOfService) ? undefined : { taints: [...taints, OUT_OF_SERVICE] };
}

/** All of ours goes. A node that is drained meanwhile stays cordoned, for that drain has found it so and counts on it. */
export function liftChange(node: ClusterNode, record: FencingRecord): NodeChange | undefined {
  if (node.annotations[FENCING_RECORD_ANNOTATION] === undefined) return undefined;
  const isOurs = node.annotations[CORDONED_BY_ANNOTATION] === fencingName(node.uid);
  const isDrained = node.labels[DRAINING_LABEL] !== undefined;
  const stays = (taint: Taint) =>
    !(taint.key === INTERRUPTION_TAINT && taint.value === TAINT_VALUE) &&
    !(record.proof !== undefined && isOutOfService(taint));
  const taints = node.taints.filter(stays);
  return {
    ...(isOurs && !isDrained && { unschedulable: false }),
    annotations: { [FENCING_RECORD_ANNOTATION]: undefined, ...(isOurs && { [CORDONED_BY_ANNOTATION]: undefined }) },
    ...(taints.length < node.taints.length && { taints }),
  };
}

/** Shows on the Node whether its agent has armed the dog. Where no agent says anything, the label is somebody else's. */
export function armedChange({ labels }: ClusterNode, reading: FencingStatementReading): NodeChange | undefined {
  if (reading.kind === "unreadable") return undefined;
  const isShown = labels[FENCING_ENABLED_LABEL] !== undefined;
  if (isShown === reading.statement.armed) return undefined;
  return { labels: { [FENCING_ENABLED_LABEL]: reading.statement.armed ? "" : undefined } };
}

function isOutOfService({ key, value, effect }: Taint): boolean {
  return key === OUT_OF_SERVICE.key && value === OUT_OF_SERVICE.value && effect === OUT_OF_SERVICE.effect;
}
