/**
 * Which container gives way. Requests are a promise: who uses more than its request goes first, by the order in which
 * the kubelet evicts (https://kubernetes.io/docs/concepts/scheduling-eviction/node-pressure-eviction/).
 */
import type { Choice, ContainerMemory, FactsByPod, PodFacts, Rule, Strike, Victim } from "../words.ts";
import { noiseKib } from "./window.ts";

/** Priorities from here on are the system's: users can't give themselves one. */
const SYSTEM_PRIORITY = 2_000_000_000;
const SYSTEM_CLASS = /^system-.*critical$/;
/** Of the node's memory: to kill something smaller is harm without relief. */
const SMALLEST_SHARE = 0.05;

export interface VictimQuestion {
  readonly rule: Rule;
  readonly totalKib: number;
  readonly containers: readonly ContainerMemory[];
  readonly facts: FactsByPod;
  /** UID of the pod that we run in. */
  readonly ownPodUid: string;
  /** Strikes so far: nobody is struck twice. */
  readonly strikes: readonly Strike[];
}

interface Candidate {
  readonly container: ContainerMemory;
  readonly pod: PodFacts;
  readonly requestBytes: number;
  readonly overBytes: number;
}

export function decideVictim(question: VictimQuestion): Choice {
  const leaker = findLeaker(question);
  if (leaker && isUnknown(leaker, question)) {
    // Whoever else gave way would do so for nothing, and the unknown one may be the cluster's DNS.
    return nobody("the container that grows most belongs to a pod that the API wasn't asked about yet");
  }
  const candidates = question.containers.flatMap((container) => candidateOf(container, question));
  const [first] = candidates.filter(({ overBytes }) => overBytes > 0).toSorted(byWhoGoesFirst);
  if (first) return chosen(first, aboveRequest(first));
  const within = candidates.find(({ container }) => container === leaker);
  if (within && question.rule === "A") return chosen(within, withinRequest(within));
  if (candidates.length > 0) return nobody("every container that may be struck is within its request and doesn't leak");
  return nobody("every container that is large enough is protected, unknown or struck already");
}

/** The container whose working set grew most, where that is more than a steady node's breathing. */
function findLeaker({ containers, totalKib }: VictimQuestion): ContainerMemory | undefined {
  const most = Math.max(0, ...containers.map(({ growthBytes }) => growthBytes));
  if (most < noiseKib(totalKib) * 1024) return undefined;
  return containers.find(({ growthBytes }) => growthBytes === most);
}

/** A young pod, or one that we can't ask about while the API is away. Never guessed to be unimportant. */
function isUnknown({ podUid, isStatic }: ContainerMemory, { facts, ownPodUid }: VictimQuestion): boolean {
  return !isStatic && podUid !== ownPodUid && !facts.has(podUid);
}

function candidateOf(container: ContainerMemory, question: VictimQuestion): readonly Candidate[] {
  const pod = question.facts.get(container.podUid);
  if (pod === undefined || isProtected(container, pod, question.ownPodUid)) return [];
  if (container.workingSetBytes < question.totalKib * 1024 * SMALLEST_SHARE) return [];
  if (question.strikes.some(({ cgroup }) => cgroup === container.cgroup)) return [];
  const requestBytes = pod.containers.get(container.containerId)?.memoryRequestBytes ?? pod.largestRequestBytes;
  return [{ container, pod, requestBytes, overBytes: container.workingSetBytes - requestBytes }];
}

function isProtected(container: ContainerMemory, pod: PodFacts, ownPodUid: string): boolean {
  if (container.isStatic || pod.isStatic) return true;
  if (container.podUid === ownPodUid) return true;
  return pod.priority >= SYSTEM_PRIORITY || SYSTEM_CLASS.test(pod.priorityClassName ?? "");
}

function byWhoGoesFirst(one: Candidate, other: Candidate): number {
  if (one.pod.priority !== other.pod.priority) return one.pod.priority - other.pod.priority;
  if (one.overBytes !== other.overBytes) return other.overBytes - one.overBytes;
  return other.container.birth - one.container.birth;
}

function chosen({ container, pod, requestBytes }: Candidate, because: string): Choice {
  const containerName = pod.containers.get(container.containerId)?.name;
  const victim: Victim = { container, pod, containerName, requestBytes, because };
  return { kind: "victim", victim };
}

function aboveRequest({ overBytes, pod }: Candidate): string {
  return `it uses ${mib(overBytes)} MiB more than it requested, at priority ${pod.priority}`;
}

function withinRequest({ container }: Candidate): string {
  return `nobody uses more than requested, and it grew most: ${mib(container.growthBytes)} MiB since the scan before`;
}

function nobody(because: string): Choice {
  return { kind: "nobody", because };
}

function mib(bytes: number): number {
  return Math.round(bytes / 1024 / 1024);
}
