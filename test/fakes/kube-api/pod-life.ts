/**
 * How a pod comes to its end: what a deletion does to it in the API server, and when the play-acting kubelet has
 * stopped it. https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/#pod-termination
 */
import type { Pod } from "../../../shared/domain/pod.ts";

export interface StoredPod {
  readonly pod: Pod;
  readonly createdAt: Date;
  /** How long its containers take to stop, if not what the kubelets need by default. */
  readonly stopsAfterMs?: number;
  readonly deletion?: {
    readonly askedAt: Date;
    readonly graceSeconds: number;
    /** When the kubelet ends it by force. It counts a shortened grace from when it hears of it. */
    readonly killAt: Date;
  };
}

/** The pod after a deletion, or undefined where it goes at once. `graceSeconds`: what the deletion asks for, if anything. */
export function afterDeletion(stored: StoredPod, graceSeconds: number | undefined, now: Date): StoredPod | undefined {
  return stored.deletion ? tightened(stored, graceSeconds, now) : condemned(stored, graceSeconds, now);
}

function condemned(stored: StoredPod, graceSeconds: number | undefined, now: Date): StoredPod | undefined {
  const { pod } = stored;
  const isOver = pod.nodeName === undefined || pod.phase === "Succeeded" || pod.phase === "Failed";
  const grace = isOver ? 0 : (graceSeconds ?? pod.graceSeconds);
  if (grace === 0) return undefined;
  const killAt = endOf(now, grace);
  return withDeletion(stored, { askedAt: now, graceSeconds: grace, killAt }, killAt);
}

/** Grace is only ever shortened, and counts from the first deletion; one that is over by now becomes one second. */
function tightened(stored: StoredPod, graceSeconds: number | undefined, now: Date): StoredPod | undefined {
  const { deletion } = stored;
  if (deletion === undefined || graceSeconds === undefined || graceSeconds >= deletion.graceSeconds) return stored;
  if (graceSeconds === 0) return undefined;
  const { askedAt } = deletion;
  const killAt = new Date(Math.min(deletion.killAt.getTime(), endOf(now, graceSeconds).getTime()));
  if (endOf(askedAt, graceSeconds) < now) return withDeletion(stored, { askedAt, graceSeconds: 1, killAt }, now);
  return withDeletion(stored, { askedAt, graceSeconds, killAt }, endOf(askedAt, graceSeconds));
}

function withDeletion(stored: StoredPod, deletion: StoredPod["deletion"] & object, deletionTimestamp: Date): StoredPod {
  return { ...stored, deletion, pod: { ...stored.pod, deletionTimestamp } };
}

function endOf(askedAt: Date, graceSeconds: number): Date {
  return new Date(askedAt.getTime() + graceSeconds * 1000);
}

/** Whether the kubelet has stopped it: after the time its containers take, and never later than its grace. */
export function hasStopped({ deletion, stopsAfterMs }: StoredPod, defaultStopMs: number, now: Date): boolean {
  if (deletion === undefined) return false;
  const stopped = deletion.askedAt.getTime() + (stopsAfterMs ?? defaultStopMs);
  return now.getTime() >= Math.min(stopped, deletion.killAt.getTime());
}
