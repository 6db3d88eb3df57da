/**
 * What was observed of the nodes' Leases, and how the next pass adds to it. Only our own times are compared: when we
 * first saw what a Lease still says, and when we last looked. A node's clock says nothing here.
 */
import type { Lease } from "../../../shared/domain/lease.ts";

/** What one Lease said, in all the passes since we first saw it say so. */
export interface StillLease {
  readonly resourceVersion: string;
  /** When the answer that first held it was there: the renewal itself was earlier. */
  readonly firstSeenAt: Date;
}

export interface NodeSilence {
  /** Of the Node: one that is made anew under the same name begins anew here too. */
  readonly uid: string;
  readonly agent: StillLease | undefined;
  readonly kubelet: StillLease | undefined;
  /** In so many observations in a row neither Lease moved, the first of them included. */
  readonly observations: number;
  /** When the observation was asked for that first made it suspect; undefined while it isn't. */
  readonly suspectedAt: Date | undefined;
}

export interface Observations {
  /** When the last observation was asked for: what stood still then was still up to there at least. */
  readonly observedAt: Date | undefined;
  /** The last pass whose lists failed. */
  readonly failedAt: Date | undefined;
  readonly nodes: ReadonlyMap<string, NodeSilence>;
}

export const NO_OBSERVATIONS: Observations = { observedAt: undefined, failedAt: undefined, nodes: new Map() };

/** One look at all Leases. The lists must be consistent reads: a cache may show a living node as silent. */
export interface LeasePass {
  /** Our time before the first list was asked for, and after the last answer was there. */
  readonly askedAt: Date;
  readonly answeredAt: Date;
  readonly agents: readonly Lease[];
  readonly kubelets: readonly Lease[];
  /** UID of each Node, by its name. Leases of others say nothing. */
  readonly nodes: ReadonlyMap<string, string>;
}

/** Two looks within this are one observation. */
export const OBSERVATION_SECONDS = 15;
/** After a longer gap nobody knows what was missed. */
export const LONGEST_GAP_SECONDS = 90;
/** Fewer looks than this prove nothing, however long they take. */
const MIN_OBSERVATIONS = 3;

/** @param suspectAfterSeconds by the name of a node, from its policy. */
export function observe(
  previous: Observations,
  pass: LeasePass,
  suspectAfterSeconds: (nodeName: string) => number,
): Observations {
  const known = isContinued(previous, pass) ? previous : { ...previous, observedAt: undefined, nodes: new Map() };
  const isSame = known.observedAt !== undefined && secondsBetween(known.observedAt, pass.askedAt) < OBSERVATION_SECONDS;
  const agents = new Map(pass.agents.map((lease) => [lease.name, lease]));
  const kubelets = new Map(pass.kubelets.map((lease) => [lease.name, lease]));

  const nodes = new Map<string, NodeSilence>();
  for (const [name, uid] of pass.nodes) {
    const leases = { agent: agents.get(name), kubelet: kubelets.get(name) };
    if (leases.agent === undefined && leases.kubelet === undefined) continue;
    const before = known.nodes.get(name);
    const same = before?.uid === uid ? before : undefined;
    nodes.set(name, withSuspicion(look(same, { uid, isSame, ...leases }, pass), pass, suspectAfterSeconds(name)));
  }
  return { observedAt: isSame ? known.observedAt : pass.askedAt, failedAt: previous.failedAt, nodes };
}

/** What a pass leaves behind that could not read the Leases. */
export function rememberFailure(previous: Observations, at: Date): Observations {
  return { ...previous, failedAt: at };
}

/** What must be kept for the next run: the nodes whose kubelet's Lease (the agent's, where there is none) stands still. */
export function worthKeeping({ observedAt, nodes }: Observations): ReadonlyMap<string, NodeSilence> {
  const isStill = ({ kubelet, agent }: NodeSilence) => {
    const seen = kubelet ?? agent;
    return seen !== undefined && observedAt !== undefined && seen.firstSeenAt < observedAt;
  };
  return new Map([...nodes].filter(([, silence]) => isStill(silence)));
}

/** Since when we know of no life sign of a node: when we first saw the later of its last ones. */
export function silentSince({ agent, kubelet }: NodeSilence): Date {
  return new Date(Math.max(agent?.firstSeenAt.getTime() ?? 0, kubelet?.firstSeenAt.getTime() ?? 0));
}

export function secondsBetween(earlier: Date, later: Date): number {
  return (later.getTime() - earlier.getTime()) / 1000;
}

/** A clock that went back is a gap too. */
function isContinued({ observedAt }: Observations, { askedAt }: LeasePass): boolean {
  if (observedAt === undefined) return true;
  const gap = secondsBetween(observedAt, askedAt);
  return gap > -OBSERVATION_SECONDS && gap <= LONGEST_GAP_SECONDS;
}

interface Look {
  readonly uid: string;
  readonly agent: Lease | undefined;
  readonly kubelet: Lease | undefined;
  /** Whether it still belongs to the last observation. */
  readonly isSame: boolean;
}

function look(
  before: NodeSilence | undefined,
  { uid, isSame, ...leases }: Look,
  { answeredAt }: LeasePass,
): NodeSilence {
  const agent = still(before?.agent, leases.agent, answeredAt);
  const kubelet = still(before?.kubelet, leases.kubelet, answeredAt);
  const isSilent = before !== undefined && before.agent === agent && before.kubelet === kubelet;
  if (!isSilent) return { uid, agent, kubelet, observations: 1, suspectedAt: undefined };
  return { ...before, observations: isSame ? before.observations : before.observations + 1 };
}

/** The very same value where the Lease stands still. One that is gone, or back, has moved. */
function still(before: StillLease | undefined, lease: Lease | undefined, seenAt: Date): StillLease | undefined {
  if (lease === undefined) return undefined;
  if (before?.resourceVersion === lease.resourceVersion) return before;
  return { resourceVersion: lease.resourceVersion, firstSeenAt: seenAt };
}

function withSuspicion(silence: NodeSilence, { askedAt }: LeasePass, suspectAfterSeconds: number): NodeSilence {
  const isSuspect =
    silence.observations >= MIN_OBSERVATIONS && secondsBetween(silentSince(silence), askedAt) >= suspectAfterSeconds;
  return { ...silence, suspectedAt: isSuspect ? (silence.suspectedAt ?? askedAt) : undefined };
}
