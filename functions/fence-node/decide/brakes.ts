/** What keeps a fault of the cluster, the network or ours from being taken for the death of many nodes. */
import type { FencingBrakes } from "../../../shared/domain/fencing-policy.ts";
import { FENCING_RECORD_ANNOTATION, readFencingRecord } from "../../../shared/domain/fencing-record.ts";
import type { ClusterNode } from "../../../shared/domain/node.ts";
import { type NodeSilence, type Observations, secondsBetween, silentSince } from "./observations.ts";
import { isSilent } from "./suspicion.ts";

export interface Brake {
  /** Undefined while it is released. */
  readonly because: string | undefined;
  /** Share of the observed nodes that are silent, without those that were proven dead. */
  readonly silentShare: number;
}

/** Within so long of a failed pass silence may be what that failure left behind. */
const AFTER_FAILURE_SECONDS = 120;

/** The brake of a whole pass: while it holds, nothing is begun and nothing goes on. */
export function decideBrake(
  { observedAt, failedAt, nodes: silences }: Observations,
  nodes: readonly ClusterNode[],
  { maxSilentShare }: FencingBrakes,
): Brake {
  if (observedAt === undefined) return { because: "nothing was observed yet", silentShare: 0 };
  const explained = new Set(nodes.filter(isProvenDead).map(({ name }) => name));
  const counted = [...silences].filter(([name]) => !explained.has(name));
  const silent = counted.filter(([, silence]) => isSilent(silence, observedAt)).length;
  const silentShare = counted.length === 0 ? 0 : silent / counted.length;
  const most = atLeastOne(maxSilentShare * counted.length);
  if (silent > most)
    return { because: `${silent} of ${counted.length} nodes are silent at once, more than ${most}`, silentShare };
  const sinceFailure = failedAt && secondsBetween(failedAt, observedAt);
  if (sinceFailure !== undefined && sinceFailure < AFTER_FAILURE_SECONDS)
    return { because: `Leases could not be read ${Math.round(sinceFailure)} s ago`, silentShare };
  return { because: undefined, silentShare };
}

/**
 * Which of `candidates` may be under fencing together with those that are already, group by group; the longest silent
 * first. Gives the reason for each one that may not, by its name.
 */
export function decideGroups(
  candidates: readonly (readonly [string, NodeSilence])[],
  nodes: readonly ClusterNode[],
  { maxFencedShare, groupLabels }: FencingBrakes,
): ReadonlyMap<string, string> {
  const byName = new Map(nodes.map((node) => [node.name, node]));
  const groups = Map.groupBy(nodes, (node) => groupOf(node, groupLabels));
  const underWay = new Map([...groups].map(([group, members]) => [group, members.filter(isUnderFencing).length]));
  const refused = new Map<string, string>();
  for (const [name] of candidates.toSorted(([, a], [, b]) => silentSince(a).getTime() - silentSince(b).getTime())) {
    const node = byName.get(name);
    if (node === undefined || isUnderFencing(node)) continue;
    const group = groupOf(node, groupLabels);
    const [size, count] = [groups.get(group)?.length ?? 0, underWay.get(group) ?? 0];
    const most = atLeastOne(maxFencedShare * size);
    if (count < most) underWay.set(group, count + 1);
    else refused.set(name, `${count} of ${size} nodes of ${group} are under fencing, which is the most`);
  }
  return refused;
}

function atLeastOne(nodes: number): number {
  return Math.max(1, Math.floor(nodes));
}

function groupOf({ labels }: ClusterNode, groupLabels: readonly string[]): string {
  const key = groupLabels.find((one) => labels[one] !== undefined);
  return key === undefined ? "the group of the rest" : `${key}=${labels[key]}`;
}

/** A record that isn't understood counts too: somebody is at work there. */
function isUnderFencing({ annotations }: ClusterNode): boolean {
  return annotations[FENCING_RECORD_ANNOTATION] !== undefined;
}

function isProvenDead({ annotations }: ClusterNode): boolean {
  const reading = readFencingRecord(annotations[FENCING_RECORD_ANNOTATION]);
  return reading.kind === "record" && reading.record.proof !== undefined;
}
