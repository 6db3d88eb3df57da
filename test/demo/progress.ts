/** How far each interrupted node is, folded from one sighting to the next; and what changed, in words. Pure. */
import { readDrainRecord } from "../../shared/domain/drain-record.ts";
import { DRAIN_ANNOTATION, DRAINING_LABEL } from "../../shared/domain/keys.ts";
import type { ClusterNode } from "../../shared/domain/node.ts";
import { type Pod, podName } from "../../shared/domain/pod.ts";
import type { BudgetReport, Sighting } from "./watch.ts";

export interface NodeProgress {
  readonly name: string;
  readonly state: "running" | "cordoned" | "draining" | "drained";
  /** Without those of DaemonSets. */
  readonly podsLeft: number;
  /** What holds pods that are still there, or has just let go of them: one line per pod. */
  readonly heldBy: readonly string[];
  /** Seconds from the notice until it was first seen so. */
  readonly cordonedAfter: number | undefined;
  readonly emptyAfter: number | undefined;
  readonly drainedAfter: number | undefined;
  /** From the record on the Node: between the end of the drain and the deadline. */
  readonly secondsLeft: number | undefined;
}

export function beforeTheNotice(name: string, podsLeft: number): NodeProgress {
  const nothingYet = { cordonedAfter: undefined, emptyAfter: undefined, drainedAfter: undefined };
  return { name, state: "running", podsLeft, heldBy: [], ...nothingYet, secondsLeft: undefined };
}

/** @param seconds since the notice. A node that isn't seen stays as it was. */
export function follow(before: NodeProgress, { nodes, pods, reports }: Sighting, seconds: number): NodeProgress {
  const node = nodes.get(before.name);
  const all = pods.get(before.name);
  if (node === undefined || all === undefined) return before;
  const left = workOf(all);
  const state = stateOf(node, left, before);
  return {
    name: before.name,
    state,
    podsLeft: left.length,
    heldBy: left.flatMap((pod) => heldBy(pod, reports)),
    cordonedAfter: before.cordonedAfter ?? (node.unschedulable ? seconds : undefined),
    emptyAfter: left.length > 0 ? undefined : (before.emptyAfter ?? seconds),
    drainedAfter: before.drainedAfter ?? (state === "drained" ? seconds : undefined),
    secondsLeft: secondsLeftOf(node),
  };
}

/** Pods that must go: a DaemonSet's stay until the node dies. */
export function workOf(pods: readonly Pod[]): readonly Pod[] {
  return pods.filter((pod) => pod.controller?.kind !== "DaemonSet");
}

function stateOf(node: ClusterNode, left: readonly Pod[], before: NodeProgress): NodeProgress["state"] {
  if (node.labels[DRAINING_LABEL] === "drained") return "drained";
  if (!node.unschedulable) return "running";
  const goes = left.some((pod) => pod.deletionTimestamp !== undefined);
  return goes || left.length < before.podsLeft || before.state === "draining" ? "draining" : "cordoned";
}

function heldBy(pod: Pod, reports: readonly BudgetReport[]): string[] {
  const own = reports.filter((report) => report.podUid === pod.uid);
  const past = own.find((report) => report.kind === "deleted-past-budget");
  if (past) return [`${podName(pod)} deleted past budget ${past.budget}`];
  if (pod.deletionTimestamp) return [];
  return own.map(({ budget }) => `${podName(pod)} blocked by budget ${budget}`);
}

function secondsLeftOf(node: ClusterNode): number | undefined {
  const reading = readDrainRecord(node.annotations[DRAIN_ANNOTATION]);
  if (reading.kind !== "record" || reading.record.endedAt === undefined) return undefined;
  return (Date.parse(reading.record.deadline) - Date.parse(reading.record.endedAt)) / 1000;
}

/** One line for each thing that is different. */
export function changesBetween(before: NodeProgress, after: NodeProgress): readonly string[] {
  const news: string[] = [];
  if (before.cordonedAfter === undefined && after.cordonedAfter !== undefined) news.push("cordoned");
  if (after.state !== before.state && after.state === "draining") news.push("draining");
  news.push(...after.heldBy.filter((line) => !before.heldBy.includes(line)));
  if (after.podsLeft !== before.podsLeft) news.push(`pods left: ${after.podsLeft}`);
  if (after.state !== before.state && after.state === "drained") news.push("drained");
  return news.map((what) => `${after.name}  ${what}`);
}
