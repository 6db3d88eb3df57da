/** Which pods of a node are work for a drain, and in which tier. First match wins; the rules are kubectl drain's and Karpenter's, ours where said. */
import {
  INTERRUPTION_TAINT,
  MIRROR_POD_ANNOTATION,
  RELAY_NAMESPACE,
  RELAY_POD_LABEL,
} from "../../../shared/domain/keys.ts";
import type { Pod } from "../../../shared/domain/pod.ts";

/** `apps` go first, `critical` (cluster DNS and the like) next, our own `relay` last. */
export type Tier = "apps" | "critical" | "relay";

export type PodClass =
  /** Not ours to move: a mirror pod, a DaemonSet's, finished, or tolerating the interruption on purpose. */
  | { readonly kind: "skipped"; readonly because: string }
  /** Terminating for more than a minute past its grace: it is reported, nobody waits for it. */
  | { readonly kind: "stuck" }
  | { readonly kind: "terminating"; readonly tier: Tier; readonly endsAt: Date }
  | { readonly kind: "work"; readonly tier: Tier };

/** How long past the end of its grace a pod may still be waited for. */
const STUCK_AFTER_SECONDS = 60;

const CRITICAL_CLASSES: readonly string[] = ["system-cluster-critical", "system-node-critical"];

export function classifyPod(pod: Pod, now: Date): PodClass {
  if (pod.annotations[MIRROR_POD_ANNOTATION] !== undefined || pod.controller?.kind === "Node") {
    return { kind: "skipped", because: "static" };
  }
  if (pod.phase === "Succeeded" || pod.phase === "Failed") return { kind: "skipped", because: "finished" };
  if (pod.deletionTimestamp && now.getTime() - pod.deletionTimestamp.getTime() > STUCK_AFTER_SECONDS * 1000) {
    return { kind: "stuck" };
  }
  if (pod.controller?.kind === "DaemonSet" && pod.controller.apiVersion === "apps/v1") {
    return { kind: "skipped", because: "of a DaemonSet" };
  }
  // Only by key: a toleration of everything says nothing about our taint.
  if (pod.tolerations.some((toleration) => toleration.key === INTERRUPTION_TAINT)) {
    return { kind: "skipped", because: "tolerates the interruption" };
  }
  const tier = tierOf(pod);
  if (pod.deletionTimestamp) return { kind: "terminating", tier, endsAt: pod.deletionTimestamp };
  return { kind: "work", tier };
}

export function isRelayPod(pod: Pick<Pod, "namespace" | "labels">): boolean {
  return pod.namespace === RELAY_NAMESPACE && pod.labels[RELAY_POD_LABEL.key] === RELAY_POD_LABEL.value;
}

function tierOf(pod: Pod): Tier {
  if (isRelayPod(pod)) return "relay";
  return CRITICAL_CLASSES.includes(pod.priorityClassName ?? "") ? "critical" : "apps";
}
