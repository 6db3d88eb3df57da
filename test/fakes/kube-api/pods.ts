/**
 * The pods of the cluster model: what a deletion does to one, and the play-acting kubelets that end it.
 * https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/#pod-termination
 */
import { type Pod, podName } from "../../../shared/domain/pod.ts";
import type { DeletionRequest } from "./bodies.ts";
import { conflict, notFound } from "./refusal.ts";

interface Kubelets {
  readonly now: () => Date;
  /** How long the containers of a pod take to stop. */
  readonly podStopMs: number;
  readonly isSilent: (nodeName: string) => boolean;
}

interface StoredPod {
  readonly pod: Pod;
  /** Times in milliseconds of the epoch. */
  readonly deletion?: { readonly askedAt: number; readonly graceSeconds: number; readonly endsAt: number };
}

export class Pods {
  readonly #kubelets: Kubelets;
  readonly #stored = new Map<string, StoredPod>();

  constructor(kubelets: Kubelets) {
    this.#kubelets = kubelets;
  }

  add(pod: Pod): void {
    this.#stored.set(podName(pod), { pod });
  }

  list(): readonly Pod[] {
    this.#endStopped();
    return [...this.#stored.values()].map(({ pod }) => pod);
  }

  delete(namespace: string, name: string, asked: DeletionRequest): void {
    this.#endStopped();
    const key = podName({ namespace, name });
    const stored = this.#stored.get(key);
    if (stored === undefined) throw notFound("pods", name);
    const { uid } = stored.pod;
    const because = `the UID in the precondition (${asked.uid}) does not match the UID in record (${uid})`;
    if (asked.uid !== undefined && asked.uid !== uid) throw conflict(`Pod "${name}"`, because);
    const left = this.#afterDeletion(stored, asked.graceSeconds);
    if (left) this.#stored.set(key, left);
    else this.#stored.delete(key);
  }

  /** Undefined where it goes at once. Grace is only ever shortened, and counts from the first deletion. */
  #afterDeletion(stored: StoredPod, askedSeconds: number | undefined): StoredPod | undefined {
    const { pod, deletion } = stored;
    if (deletion && (askedSeconds === undefined || askedSeconds >= deletion.graceSeconds)) return stored;
    const isOver = pod.nodeName === undefined || pod.phase === "Succeeded" || pod.phase === "Failed";
    const graceSeconds = isOver ? 0 : (askedSeconds ?? pod.graceSeconds);
    if (graceSeconds === 0) return undefined;

    const now = this.#kubelets.now().getTime();
    const askedAt = deletion?.askedAt ?? now;
    const deletionTimestamp = new Date(Math.max(now, askedAt + graceSeconds * 1000));
    // The kubelet counts a shortened grace from when it hears of it.
    const stopped = Math.min(askedAt + this.#kubelets.podStopMs, now + graceSeconds * 1000);
    const endsAt = Math.min(stopped, deletion?.endsAt ?? stopped);
    return { pod: { ...pod, deletionTimestamp }, deletion: { askedAt, graceSeconds, endsAt } };
  }

  /** Nothing runs in between: whoever looks first lets the kubelets end what has stopped by now. */
  #endStopped(): void {
    const now = this.#kubelets.now().getTime();
    for (const [key, { pod, deletion }] of this.#stored) {
      const hasStopped = deletion !== undefined && now >= deletion.endsAt;
      if (hasStopped && !this.#kubelets.isSilent(pod.nodeName ?? "")) this.#stored.delete(key);
    }
  }
}
