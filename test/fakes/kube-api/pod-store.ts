/** The pods of the cluster model, their namespaces, and the kubelets that end them. */
import { type Pod, podName } from "../../../shared/domain/pod.ts";
import { afterDeletion, hasStopped, type StoredPod } from "./pod-life.ts";
import { notFound, otherUid } from "./refusal.ts";

export interface DeletionRequest {
  readonly uid?: string | undefined;
  readonly graceSeconds?: number | undefined;
}

export interface PodStoreSettings {
  readonly now: () => Date;
  readonly podStopMs: number;
  readonly tell: (kind: "pod" | "pod-gone", pod: Pod) => void;
}

export class PodStore {
  readonly #settings: PodStoreSettings;
  readonly #pods = new Map<string, StoredPod>();
  readonly #silentKubelets = new Set<string>();

  constructor(settings: PodStoreSettings) {
    this.#settings = settings;
  }

  list(): readonly StoredPod[] {
    this.settle();
    return [...this.#pods.values()];
  }

  get(namespace: string, name: string): StoredPod {
    this.settle();
    const stored = this.#pods.get(podName({ namespace, name }));
    if (stored === undefined) throw notFound("pods", name);
    return stored;
  }

  put(stored: StoredPod): void {
    this.#pods.set(podName(stored.pod), stored);
    this.#settings.tell("pod", stored.pod);
  }

  delete(namespace: string, name: string, { uid, graceSeconds }: DeletionRequest): void {
    const stored = this.get(namespace, name);
    if (uid !== undefined && uid !== stored.pod.uid) throw otherUid(name, uid, stored.pod.uid);
    const left = afterDeletion(stored, graceSeconds, this.#settings.now());
    if (left === undefined) this.#remove(stored);
    else if (left !== stored) this.put(left);
  }

  silenceKubelet(nodeName: string): void {
    this.#silentKubelets.add(nodeName);
  }

  /** Lets the kubelets end what has stopped by now. */
  settle(): void {
    const { now, podStopMs } = this.#settings;
    for (const stored of this.#pods.values()) {
      const isSilent = this.#silentKubelets.has(stored.pod.nodeName ?? "");
      if (!isSilent && hasStopped(stored, podStopMs, now())) this.#remove(stored);
    }
  }

  #remove({ pod }: StoredPod): void {
    this.#pods.delete(podName(pod));
    this.#settings.tell("pod-gone", pod);
  }
}
