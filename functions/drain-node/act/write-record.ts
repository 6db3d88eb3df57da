/** Changes the drain record on a Node, where there is one of a version we know. */
import { type DrainRecord, readDrainRecord, writeDrainRecord } from "../../../shared/domain/drain-record.ts";
import { DRAIN_ANNOTATION } from "../../../shared/domain/keys.ts";
import type { ClusterNode, NodeChange } from "../../../shared/domain/node.ts";
import { patchUntilItHolds } from "../../../shared/lambda/patch-node.ts";
import type { DrainTools } from "../tools.ts";

interface Writing {
  readonly next: (record: DrainRecord) => DrainRecord;
  /** Written with the record. */
  readonly labels?: NonNullable<NodeChange["labels"]>;
}

/** Writes only what changes. A failure is reported, never fatal: the record is for people and for patience, not for safety. */
export async function writeRecord(node: ClusterNode, writing: Writing, tools: DrainTools): Promise<void> {
  const answer = await patchUntilItHolds(node, (fresh) => changeOf(fresh, writing), tools);
  if (answer.kind === "failed") tools.note({ kind: "record-left-alone", nodeName: node.name, because: answer.because });
}

function changeOf(node: ClusterNode, { next, labels = {} }: Writing): NodeChange | undefined {
  const reading = readDrainRecord(node.annotations[DRAIN_ANNOTATION]);
  if (reading.kind !== "record") return undefined;
  const annotation = writeDrainRecord(next(reading.record));
  if (annotation === node.annotations[DRAIN_ANNOTATION]) return undefined;
  return { annotations: { [DRAIN_ANNOTATION]: annotation }, labels };
}
