/** Gathers, once the watching is over, what the report needs: from the cluster, from the queue, and from the function's log. */
import * as z from "zod";
import { readDrainRecord } from "../../shared/domain/drain-record.ts";
import { DRAIN_ANNOTATION } from "../../shared/domain/keys.ts";
import type { ClusterNode } from "../../shared/domain/node.ts";
import { podName } from "../../shared/domain/pod.ts";
import { waitUntil } from "../rig/wait.ts";
import type { Installation } from "../support/installation.ts";
import type { Drama } from "./drama.ts";
import type { Escalation, Report } from "./report.ts";
import type { Scene } from "./scene.ts";
import type { Sighting } from "./watch.ts";

/** A node is labelled a moment before its message is acknowledged. */
const QUEUE_MILLISECONDS = 10_000;

export interface Findings {
  readonly scene: Scene;
  readonly installation: Installation;
  readonly before: Sighting;
  readonly after: Sighting;
  readonly drama: Drama;
  readonly setupSeconds: number;
}

export async function gatherReport(findings: Findings): Promise<Report> {
  const { scene, installation, before, after, drama, setupSeconds } = findings;
  const others = scene.nodes.filter((node) => !scene.interrupted.includes(node)).map(({ name }) => name);
  const messagesLeft = await waitForEmptyQueue(installation);
  const deadLetters = await installation.deadLetters();
  return {
    nodes: drama.nodes,
    escalations: await readEscalations(findings),
    otherNodes: others.length,
    touched: others.flatMap((name) => touchesOf(name, before, after)),
    deadLetters: deadLetters.map(({ reason }) => reason ?? "no reason given"),
    messagesLeft,
    setupSeconds,
    dramaSeconds: drama.seconds,
  };
}

async function waitForEmptyQueue(installation: Pick<Installation, "countMessages">): Promise<number> {
  const patience = { withinMilliseconds: QUEUE_MILLISECONDS, everyMilliseconds: 250 };
  // What is left when the time is over is counted below.
  await waitUntil("the queue is empty", async () => (await installation.countMessages()) === 0, patience).catch(
    () => {},
  );
  return installation.countMessages();
}

/** A node without a notice must look as before and must still have its pods. */
function touchesOf(name: string, before: Sighting, after: Sighting): string[] {
  const [was, is] = [before.nodes.get(name), after.nodes.get(name)];
  if (was === undefined || is === undefined) return [`${name} had no notice, and is gone`];
  const changed = marksOf(was) === marksOf(is) ? [] : [`${name} had no notice, and its Node was changed`];
  const staying = new Set((after.pods.get(name) ?? []).filter((pod) => !pod.deletionTimestamp).map(({ uid }) => uid));
  const lost = (before.pods.get(name) ?? []).filter(({ uid }) => !staying.has(uid));
  return [...changed, ...lost.map((pod) => `${name} had no notice, and lost ${podName(pod)}`)];
}

function marksOf({ unschedulable, taints, labels, annotations }: ClusterNode): string {
  return JSON.stringify({ unschedulable, taints, labels, annotations });
}

const escalationLine = z.object({
  message: z.literal("deleted past budget"),
  timestamp: z.coerce.date(),
  instanceId: z.string(),
  pod: z.string(),
  budget: z.string(),
  graceSeconds: z.number(),
});

async function readEscalations({ scene, installation, after }: Findings): Promise<readonly Escalation[]> {
  const lines = (await installation.logLines()).flatMap((line) => escalationLine.safeParse(line).data ?? []);
  return lines.flatMap(({ timestamp, instanceId, pod, budget, graceSeconds }) => {
    const nodeName = scene.nodes.find((node) => node.instanceId === instanceId)?.name;
    if (nodeName === undefined) return [];
    const since = blockedSince(after.nodes.get(nodeName));
    const refusedForSeconds = since && (timestamp.getTime() - since.getTime()) / 1000;
    return [{ nodeName, pod, budget, graceSeconds, refusedForSeconds }];
  });
}

/** The first refusal on the node, from its record. */
function blockedSince(node: ClusterNode | undefined): Date | undefined {
  const reading = readDrainRecord(node?.annotations[DRAIN_ANNOTATION]);
  if (reading.kind !== "record") return undefined;
  const { apps, critical } = reading.record.blockedSince ?? {};
  const [first] = [apps, critical].filter((time) => time !== undefined).toSorted();
  return first === undefined ? undefined : new Date(first);
}
