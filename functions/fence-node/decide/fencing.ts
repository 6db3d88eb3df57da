/** What is to be done about one node: rules in their order, from "it lives" to "it is dead". */
import {
  FENCING_RECORD_ANNOTATION,
  type FencingRecord,
  readFencingRecord,
} from "../../../shared/domain/fencing-record.ts";
import { MAINTENANCE_ANNOTATIONS } from "../../../shared/domain/keys.ts";
import type { Lease } from "../../../shared/domain/lease.ts";
import type { ClusterNode } from "../../../shared/domain/node.ts";
import type { NodePolicy } from "../../../shared/domain/policy.ts";
import type { FencingStatementReading } from "../../../shared/domain/read-fencing-lease.ts";
import type { NodeSilence } from "./observations.ts";
import { decideProof, type InstanceAnswer, isStatic, type Proof } from "./proof.ts";
import { decideSuspicion } from "./suspicion.ts";

export interface NodeFacts {
  /** As read before this step. */
  readonly node: ClusterNode;
  readonly silence: NodeSilence | undefined;
  readonly observedAt: Date;
  /** As read before this step. */
  readonly agentLease: Lease | undefined;
  readonly kubeletLease: Lease | undefined;
  /** What the agent's Lease says; unreadable too where there is none. */
  readonly statement: FencingStatementReading;
  readonly instance: InstanceAnswer;
  readonly policy: NodePolicy;
  /** Whether another controller has the node. */
  readonly isIgnored: boolean;
  /** Why the brake of the pass, or of the node's group, holds; undefined where none does. */
  readonly brake: string | undefined;
}

/** Why nothing is done about a node that doesn't look alive; few values. */
export type HoldReason = "silent" | "ready" | "maintenance" | "brake" | "no-proof" | "unknown-record" | "fenced";

export type FencingDecision =
  | { readonly kind: "nothing"; readonly because: string }
  /** The node can be reached, only its kubelet is silent: told, not fenced. */
  | { readonly kind: "report"; readonly because: string }
  | { readonly kind: "hold"; readonly reason: HoldReason; readonly because: string }
  /** The first trace on the Node. `next`: what is known about its death. */
  | { readonly kind: "cordon"; readonly because: string; readonly next: string }
  | { readonly kind: "stop"; readonly how: "stop" | "terminate"; readonly because: string }
  /** It is dead: pods, out-of-service, VolumeAttachments, and the Node where `nodeGoes`. */
  | { readonly kind: "fence"; readonly proof: Proof; readonly nodeGoes: boolean; readonly because: string }
  /** It lives: our traces are taken off the Node. */
  | { readonly kind: "lift"; readonly record: FencingRecord; readonly because: string };

export function decideFencing(facts: NodeFacts): FencingDecision {
  const { node, policy, silence, observedAt } = facts;
  const reading = readFencingRecord(node.annotations[FENCING_RECORD_ANNOTATION]);
  const record = reading.kind === "record" ? reading.record : undefined;
  const life = record && signOfLife(record, facts);
  if (record && life !== undefined) return { kind: "lift", record, because: life };
  if (facts.isIgnored) return { kind: "nothing", because: "node belongs to another controller (ignore selector)" };
  if (!policy.fencing.enabled) return { kind: "nothing", because: "its policy has no fencing" };

  const suspicion = decideSuspicion(silence, observedAt, policy.fencing);
  switch (suspicion.kind) {
    case "alive":
      return { kind: "nothing", because: suspicion.because };
    case "reachable":
      return { kind: "report", because: suspicion.because };
    case "silent":
    case "suspected":
      return { kind: "hold", reason: "silent", because: `${suspicion.because}: not confirmed yet` };
    case "confirmed":
      break;
  }
  const { because } = suspicion;
  const moved = movedSince(facts);
  if (moved !== undefined) return { kind: "nothing", because: moved };
  const held = holdOf(facts, record);
  if (held) return { ...held, because: `${because}; ${held.because}` };
  if (reading.kind === "unknown") return { kind: "hold", reason: "unknown-record", because: reading.because };
  if (silence === undefined) return { kind: "nothing", because };

  const proof = decideProof({ ...facts, silence, record });
  if (record === undefined)
    return { kind: "cordon", because, next: proof.kind === "dead" ? proof.proof.because : proof.because };
  switch (proof.kind) {
    case "dead":
      return {
        kind: "fence",
        proof: proof.proof,
        nodeGoes: !isStatic(node),
        because: `${because}; ${proof.proof.because}`,
      };
    case "stop":
      return { kind: "stop", how: proof.how, because: proof.because };
    case "none":
      return { kind: "hold", reason: "no-proof", because: `${because}; ${proof.because}` };
  }
}

/** What says that a node under fencing lives: anything newer than what was there when it was cordoned. */
function signOfLife(record: FencingRecord, { node, agentLease, kubeletLease }: NodeFacts): string | undefined {
  if (node.ready === "True") return "the node is Ready again";
  if (agentLease && agentLease.resourceVersion !== record.leases.agent) return "the agent's Lease moved";
  if (kubeletLease && kubeletLease.resourceVersion !== record.leases.kubelet) return "the kubelet's Lease moved";
  return undefined;
}

/** What has changed between the pass and the reading before this step. */
function movedSince({ silence, agentLease, kubeletLease }: NodeFacts): string | undefined {
  if (silence?.agent?.resourceVersion !== agentLease?.resourceVersion) return "the agent's Lease has moved since";
  if (silence?.kubelet?.resourceVersion !== kubeletLease?.resourceVersion) return "the kubelet's Lease has moved since";
  return undefined;
}

type Hold = Extract<FencingDecision, { kind: "hold" }>;

function holdOf({ node, brake }: NodeFacts, record: FencingRecord | undefined): Hold | undefined {
  const hold = (reason: HoldReason, because: string): Hold => ({ kind: "hold", reason, because });
  if (record?.phase === "fenced") return hold("fenced", "it is fenced, and its Node stays");
  const maintenance = MAINTENANCE_ANNOTATIONS.find((key) => node.annotations[key] !== undefined);
  if (maintenance !== undefined) return hold("maintenance", `somebody works on it (${maintenance})`);
  if (brake !== undefined) return hold("brake", brake);
  // The node controller hears of the kubelet by another way than the Leases, or is itself away.
  if (node.ready === "True") return hold("ready", "the node is Ready all the same");
  if (record && record.bootId !== node.bootId) return hold("ready", "the node has been booted since it was cordoned");
  return undefined;
}
