/**
 * Ends what a dead node leaves behind: its pods, then out-of-service, its attachments, and the Node. Before each step
 * the node is looked at again; if anything moved, the rest isn't done.
 */
import type { FencingRecord } from "../../../shared/domain/fencing-record.ts";
import { MIRROR_POD_ANNOTATION } from "../../../shared/domain/keys.ts";
import type { ClusterNode } from "../../../shared/domain/node.ts";
import { type Pod, podName } from "../../../shared/domain/pod.ts";
import type { DeletionAnswer } from "../../../shared/ports/cluster.ts";
import type { FencingDecision, NodeFacts } from "../decide/fencing.ts";
import { outOfServiceChange, recordChange } from "../decide/marks.ts";
import { lookAgain } from "../observe/look-again.ts";
import type { FenceTools } from "../tools.ts";
import { markNode } from "./mark-node.ts";
import { tell } from "./tell.ts";

/** Deletions under way at once, between two looks. */
const WAVE_WIDTH = 10;

export interface Ending {
  readonly facts: NodeFacts;
  readonly record: FencingRecord;
  readonly decision: Extract<FencingDecision, { kind: "fence" }>;
}

export async function endNode(ending: Ending, tools: FenceTools): Promise<void> {
  const { facts, decision } = ending;
  const record = withProof(ending, tools);
  // Listed before the node is looked at: what a node of the same name gets later is none of these.
  const pods = podsToEnd(await tools.cluster.listPodsOnNode(facts.node.name), decision.nodeGoes);
  if (!(await mark(ending, (node) => recordChange(node, record), tools))) return;
  if (!(await deleteAll(pods.map(podDeletion), ending, tools))) return;
  if (!(await mark(ending, outOfServiceChange, tools))) return;
  const attachments = await tools.cluster.listVolumeAttachments(facts.node.name);
  const detachments = attachments.map((one): Deletion => {
    return { object: `volumeattachment ${one.name}`, ask: ({ cluster }) => cluster.deleteVolumeAttachment(one) };
  });
  if (!(await deleteAll(detachments, ending, tools))) return;
  const { because } = decision.proof;
  const incident = `fencing/${record.startedAt}`;
  await tell(
    facts.node,
    { type: "Warning", reason: "NodeFenced", note: `${pods.length} pods let go: ${because}`, incident },
    tools,
  );
  const isEnded = decision.nodeGoes
    ? await deleteNode(ending, tools)
    : (await mark(ending, (node) => recordChange(node, { ...record, phase: "fenced" }), tools)) !== undefined;
  if (isEnded) tools.note({ kind: "fenced", nodeName: facts.node.name, proof: decision.proof.kind, pods: pods.length });
}

/** The first proof stands: what comes later is only more of it. */
function withProof({ record, decision: { proof } }: Ending, { clock }: FenceTools): FencingRecord {
  const first = record.proof ?? { kind: proof.kind, because: proof.because, at: clock.now().toISOString() };
  return { ...record, phase: "fencing", proof: first };
}

/** All of them, also of DaemonSets and static ones. Where the Node stays these would only be made anew, for ever. */
function podsToEnd(pods: readonly Pod[], nodeGoes: boolean): readonly Pod[] {
  const belongsToNode = ({ controller, annotations }: Pod) =>
    controller?.kind === "DaemonSet" || annotations[MIRROR_POD_ANNOTATION] !== undefined;
  return nodeGoes ? pods : pods.filter((pod) => !belongsToNode(pod));
}

interface Deletion {
  readonly object: string;
  readonly ask: (tools: FenceTools) => Promise<DeletionAnswer>;
}

function podDeletion(pod: Pod): Deletion {
  return { object: `pod ${podName(pod)}`, ask: ({ cluster }) => cluster.forceDeletePod(pod) };
}

/** Whether all of them are gone; what isn't is tried again in the next pass, which begins anew. */
async function deleteAll(deletions: readonly Deletion[], { facts }: Ending, tools: FenceTools): Promise<boolean> {
  const nodeName = facts.node.name;
  let allGone = true;
  for (let at = 0; at < deletions.length; at += WAVE_WIDTH) {
    if (!(await lookAgain(facts, tools))) return false;
    const wave = deletions.slice(at, at + WAVE_WIDTH);
    const ends = await Promise.all(wave.map((one) => isGone(one, nodeName, tools)));
    allGone &&= ends.every((end) => end);
  }
  return allGone;
}

async function isGone({ object, ask }: Deletion, nodeName: string, tools: FenceTools): Promise<boolean> {
  const answer = await ask(tools);
  switch (answer.kind) {
    case "deleted":
    case "gone":
      tools.note({ kind: "object-deleted", nodeName, object });
      return true;
    case "throttled":
    case "unanswered":
    case "refused": {
      const because = answer.kind === "throttled" ? "too many requests" : answer.because;
      tools.note({ kind: "deletion-failed", nodeName, object, because });
      return false;
    }
  }
}

async function mark(
  { facts }: Ending,
  changeFor: Parameters<typeof markNode>[1],
  tools: FenceTools,
): Promise<ClusterNode | undefined> {
  const node = await lookAgain(facts, tools);
  return node && markNode(node, changeFor, tools);
}

/** Under the version that was just looked at: a Node that comes back to life in between is written, and not deleted. */
async function deleteNode({ facts }: Ending, tools: FenceTools): Promise<boolean> {
  const node = await lookAgain(facts, tools);
  if (node === undefined) return false;
  return isGone({ object: `node ${node.name}`, ask: ({ cluster }) => cluster.deleteNode(node) }, node.name, tools);
}
