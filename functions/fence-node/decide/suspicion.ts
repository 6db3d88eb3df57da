/** How much of a node's silence is enough: to watch it, to suspect it, to act. */
import type { FencingPolicy } from "../../../shared/domain/fencing-policy.ts";
import { type NodeSilence, secondsBetween, silentSince } from "./observations.ts";

export type Suspicion =
  | { readonly kind: "alive"; readonly because: string }
  /** The kubelet is silent and the agent isn't: the node can be reached, and is nobody's to fence. */
  | { readonly kind: "reachable"; readonly because: string }
  /** Silent, though not for long enough yet. */
  | { readonly kind: "silent"; readonly because: string }
  | { readonly kind: "suspected"; readonly because: string }
  /** A later look found it silent too: only then is anything done. */
  | { readonly kind: "confirmed"; readonly because: string };

/** Three renewals of a kubelet that didn't come. */
const SILENT_SECONDS = 30;
/**
 * A suspicion is confirmed by a look at least so much later: the second one, where looks are 15 s apart. A node that is
 * cut off for up to 75 s then keeps no trace: its last renewal was up to 5 s before, and the next one, which may wait
 * 5 s for its turn and 5 s for an answer, is there before 60 s + 30 s of silence are over.
 */
const CONFIRM_SECONDS = 30;

/** @param observedAt of the last observation, which `silence` includes. */
export function decideSuspicion(
  silence: NodeSilence | undefined,
  observedAt: Date,
  { suspectAfterSeconds }: Pick<FencingPolicy, "suspectAfterSeconds">,
): Suspicion {
  if (silence === undefined) return { kind: "alive", because: "no Lease of the node was ever seen" };
  const silentFor = secondsBetween(silentSince(silence), observedAt);
  const heard = `${heardOf(silence)} for ${Math.round(silentFor)} s`;
  if (silence.suspectedAt !== undefined) {
    const isConfirmed = secondsBetween(silence.suspectedAt, observedAt) >= CONFIRM_SECONDS;
    return { kind: isConfirmed ? "confirmed" : "suspected", because: `${heard}, in ${silence.observations} looks` };
  }
  const { agent, kubelet } = silence;
  const kubeletFor = agent && kubelet ? secondsBetween(kubelet.firstSeenAt, observedAt) : 0;
  if (silentFor < SILENT_SECONDS && kubeletFor >= suspectAfterSeconds)
    return {
      kind: "reachable",
      because: `the agent renews its Lease, the kubelet hasn't for ${Math.round(kubeletFor)} s`,
    };
  if (silentFor >= SILENT_SECONDS) return { kind: "silent", because: heard };
  return { kind: "alive", because: "its Leases are renewed" };
}

/** Whether the silence counts towards the brake: whoever is suspected has long been silent. */
export function isSilent(silence: NodeSilence, observedAt: Date): boolean {
  return secondsBetween(silentSince(silence), observedAt) >= SILENT_SECONDS;
}

function heardOf({ agent, kubelet }: NodeSilence): string {
  if (agent && kubelet) return "neither agent nor kubelet renewed its Lease";
  return agent ? "the agent didn't renew its Lease" : "the kubelet didn't renew its Lease";
}
