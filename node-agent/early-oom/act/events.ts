/**
 * Shapes the Events of a strike, for the pods and for the node. A name is derived from what the Event says, so that one
 * posted twice, before and after a restart, is one Event.
 */
import { createHash } from "node:crypto";
import { describeStrike, type StrikeReport } from "../report.ts";
import type { PodFacts } from "../words.ts";

/** As the API takes it: https://kubernetes.io/docs/reference/kubernetes-api/cluster-resources/event-v1/ */
export interface EventBody {
  readonly apiVersion: "v1";
  readonly kind: "Event";
  readonly metadata: { readonly name: string; readonly namespace: string };
  readonly involvedObject: Readonly<Record<string, string>>;
  readonly type: "Warning";
  readonly reason: Reason;
  readonly action: Reason;
  readonly message: string;
  readonly eventTime: string;
  readonly reportingComponent: string;
  readonly reportingInstance: string;
}

export type Reason = "EarlyOomKilled" | "EarlyOomKillUnfinished" | "EarlyOomAskedKernel" | "EarlyOomFailed";

const COMPONENT = "nodekeeper-early-oom";
/** Events about objects without a namespace live here; the API server demands it. */
const CLUSTER_NAMESPACE = "default";
/** A name has at most 253 characters, of which the hash and its dot take 17. */
const MAX_OBJECT_NAME = 253 - 17;
/** Bytes in UTF-8. */
const MAX_MESSAGE = 1_024;
const HOUR_MS = 3_600_000;

export function eventsOf(report: StrikeReport): readonly EventBody[] {
  const reason = reasonOf(report);
  const node = eventOf(report, reason, aboutNode(report.nodeName));
  return [...podsOf(report).map((pod) => eventOf(report, reason, pod)), node];
}

function reasonOf({ took }: StrikeReport): Reason {
  switch (took.kind) {
    case "container":
      return took.ended ? "EarlyOomKilled" : "EarlyOomKillUnfinished";
    case "kernel":
      return took.processes === 0 ? "EarlyOomFailed" : "EarlyOomAskedKernel";
    case "nothing":
      return "EarlyOomFailed";
  }
}

interface About {
  readonly namespace: string;
  readonly object: Readonly<Record<string, string>> & { readonly name: string; readonly uid: string };
}

function podsOf({ took }: StrikeReport): readonly About[] {
  switch (took.kind) {
    case "container":
      return [aboutPod(took.victim.pod, took.victim.containerName)];
    case "kernel":
      return took.killed.flatMap(({ kill, pod }) => {
        if (pod === undefined) return [];
        return [aboutPod(pod, kill.containerId === undefined ? undefined : pod.containers.get(kill.containerId)?.name)];
      });
    case "nothing":
      return [];
  }
}

function aboutPod({ namespace, name, uid }: PodFacts, container: string | undefined): About {
  const field = container === undefined ? {} : { fieldPath: `spec.containers{${container}}` };
  return { namespace, object: { apiVersion: "v1", kind: "Pod", namespace, name, uid, ...field } };
}

/** The kubelet too gives the node's name for its UID; `kubectl describe node` looks for both. */
function aboutNode(name: string): About {
  return { namespace: CLUSTER_NAMESPACE, object: { apiVersion: "v1", kind: "Node", name, uid: name } };
}

function eventOf(report: StrikeReport, reason: Reason, { namespace, object }: About): EventBody {
  const hash = createHash("sha256")
    .update(JSON.stringify([object, reason, momentOf(report)]))
    .digest("hex");
  // A cut may end in a sign that no name may have before a dot.
  const start = object.name.slice(0, MAX_OBJECT_NAME).replace(/[-.]+$/, "");
  return {
    apiVersion: "v1",
    kind: "Event",
    metadata: { name: `${start}.${hash.slice(0, 16)}`, namespace },
    involvedObject: object,
    type: "Warning",
    reason,
    action: reason,
    message: cut(describeStrike(report)),
    // MicroTime: six digits, no fewer.
    eventTime: report.at.toISOString().replace("Z", "000Z"),
    reportingComponent: COMPONENT,
    reportingInstance: report.nodeName,
  };
}

/** A strike has its own moment; a failure that repeats every 15 s is told once an hour. */
function momentOf({ at, took }: StrikeReport): number {
  const hasTaken = took.kind === "container" || (took.kind === "kernel" && took.processes > 0);
  return hasTaken ? at.getTime() : Math.floor(at.getTime() / HOUR_MS);
}

/** A character that the end falls into is left out. */
function cut(message: string): string {
  const bytes = Buffer.from(message);
  if (bytes.length <= MAX_MESSAGE) return message;
  return new TextDecoder().decode(bytes.subarray(0, MAX_MESSAGE), { stream: true });
}
