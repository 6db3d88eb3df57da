/** What fencing left on the nodes of a cluster, read from its chronicle. */
import { FENCING_RECORD_ANNOTATION } from "../../shared/domain/fencing-record.ts";
import { CORDONED_BY_ANNOTATION, INTERRUPTION_TAINT } from "../../shared/domain/keys.ts";
import type { Happening } from "./chronicle.ts";

export const OUT_OF_SERVICE = "node.kubernetes.io/out-of-service";

type Told = readonly Happening[];

/** Each state of the Node of that name, the oldest first. */
export function nodeStates(told: Told, nodeName: string): Told {
  return told.filter(({ object: { kind, metadata } }) => kind === "Node" && metadata.name === nodeName);
}

/** Any cordon, record or taint of fencing. */
export function hasTrace(happening: Happening): boolean {
  const { metadata, spec } = happening.object;
  return (
    spec.unschedulable ||
    metadata.annotations[FENCING_RECORD_ANNOTATION] !== undefined ||
    metadata.annotations[CORDONED_BY_ANNOTATION] !== undefined ||
    isTainted(happening, INTERRUPTION_TAINT) ||
    isTainted(happening, OUT_OF_SERVICE)
  );
}

export function isTainted({ object }: Happening, key: string): boolean {
  return object.spec.taints.some((taint) => taint.key === key);
}

/** Names of nodes that ever had one. */
export function tracedNodes(told: Told): readonly string[] {
  const names = told.filter((one) => one.object.kind === "Node" && hasTrace(one)).map(nameOf);
  return [...new Set(names)].toSorted();
}

/** Pods that were deleted, or told to go, by the nodes they were on. */
export function endedPods(told: Told): readonly Happening[] {
  return told.filter(
    ({ type, object }) =>
      object.kind === "Pod" && (type === "DELETED" || object.metadata.deletionTimestamp !== undefined),
  );
}

export function nameOf({ object }: Happening): string {
  return object.metadata.name;
}
