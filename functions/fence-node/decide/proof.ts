/**
 * By what a silent node is known to be dead, and what may be done to have a proof. Two things are proof: EC2 says that
 * its instance is stopped or terminated, or (by policy) its armed dog must have barked.
 */
import type { FencingStatement } from "../../../shared/domain/fencing-lease.ts";
import { safeTimeFor } from "../../../shared/domain/fencing-policy.ts";
import type { FencingRecord } from "../../../shared/domain/fencing-record.ts";
import type { Lease } from "../../../shared/domain/lease.ts";
import type { ClusterNode } from "../../../shared/domain/node.ts";
import type { NodePolicy } from "../../../shared/domain/policy.ts";
import type { FencingStatementReading } from "../../../shared/domain/read-fencing-lease.ts";
import { type NodeSilence, secondsBetween, silentSince } from "./observations.ts";

/** What EC2 says of a node's instance. */
export type InstanceAnswer =
  | { readonly kind: "listed"; readonly state: string; readonly isSpot: boolean; readonly group: string | undefined }
  | { readonly kind: "not-listed" }
  /** Throttled, denied, out of reach: never taken for "not listed". */
  | { readonly kind: "unavailable"; readonly because: string }
  /** Its providerID names no instance of EC2. */
  | { readonly kind: "no-instance" };

export interface DeathFacts {
  readonly node: ClusterNode;
  readonly silence: NodeSilence;
  readonly observedAt: Date;
  /** As read before this step, and standing still since `silence` began. */
  readonly agentLease: Lease | undefined;
  readonly kubeletLease: Lease | undefined;
  readonly statement: FencingStatementReading;
  readonly instance: InstanceAnswer;
  readonly policy: Pick<NodePolicy, "fencing">;
  readonly record: FencingRecord | undefined;
}

export type Proof = { readonly kind: "ec2" | "watchdog"; readonly because: string };

export type ProofDecision =
  | { readonly kind: "dead"; readonly proof: Proof }
  /** `terminate` where a group or the spot market would start a stopped one again, or never let it be stopped. */
  | { readonly kind: "stop"; readonly how: "stop" | "terminate"; readonly because: string }
  | { readonly kind: "none"; readonly because: string };

/** Label by which the Deckhouse platform tells how a node came to be. */
const NODE_TYPE_LABEL = "node.deckhouse.io/type";
const STATIC_TYPES = ["Static", "CloudStatic"];

/** A node that nobody makes anew: its Node stays, and only EC2 can prove it dead. */
export function isStatic({ labels }: ClusterNode): boolean {
  return STATIC_TYPES.includes(labels[NODE_TYPE_LABEL] ?? "");
}

export function decideProof(facts: DeathFacts): ProofDecision {
  const { instance } = facts;
  const byEc2 = ec2Says(instance);
  // Only these two: on its way down an instance still runs its pods.
  if (instance.kind === "listed" && ["stopped", "terminated"].includes(instance.state))
    return { kind: "dead", proof: { kind: "ec2", because: byEc2 } };
  const none = (because: string): ProofDecision => ({ kind: "none", because: `${byEc2}; ${because}` });
  if (isStatic(facts.node)) return none("a static node is cordoned and told, no more, without proof from EC2");
  const statement = facts.statement.kind === "statement" ? facts.statement.statement : undefined;
  if (statement === undefined || statement.mode === "notify")
    return none(`${withoutDog(facts)} is cordoned and told, no more, without proof from EC2`);

  const dog = decideTimeRule(facts, statement);
  if (dog.kind === "dead") return dog;
  const stop = decideStop(facts);
  return stop.kind === "stop" ? stop : none(`${dog.because}; ${stop.because}`);
}

function ec2Says(instance: InstanceAnswer): string {
  switch (instance.kind) {
    case "listed":
      return `EC2 says ${instance.state}`;
    case "not-listed":
      // EC2 forgets a terminated instance after an hour, but a wrong account or region lists nothing either, and while a
      // new one is being made known it isn't listed yet. The cloud controller removes such Nodes by its own rules.
      return "EC2 doesn't list the instance, which proves nothing";
    case "unavailable":
      return `EC2 couldn't be asked: ${instance.because}`;
    case "no-instance":
      return "the node has no instance of EC2";
  }
}

function withoutDog({ statement, agentLease }: DeathFacts): string {
  if (agentLease === undefined) return "a node without an agent";
  return statement.kind === "unreadable" ? "a node whose agent isn't understood" : "a node in mode notify";
}

type TimeRule = Extract<ProofDecision, { kind: "dead" | "none" }>;

/**
 * The kubelet's last renewal may be so much later than the agent's by the node's own clock (two intervals of the agent).
 * More, and the agent ended before its node went silent: it may have been reset and run again, with no dog by now.
 */
const LEASES_APART_SECONDS = 10;

function decideTimeRule(facts: DeathFacts, statement: FencingStatement): TimeRule {
  const { silence, observedAt, policy } = facts;
  const against = reasonAgainstTimeRule(facts, statement);
  const { watchdogTimeoutSeconds, feedWithinSeconds } = statement;
  if (against !== undefined || watchdogTimeoutSeconds === undefined || silence.agent === undefined)
    return { kind: "none", because: `no time rule: ${against ?? "its dog's timeout isn't known"}` };
  const safe = safeTimeFor(policy.fencing, { watchdogTimeoutSeconds, feedWithinSeconds });
  // Counted up to when we last asked, and from when the answer with its last renewal was there.
  const waited = secondsBetween(silence.agent.firstSeenAt, observedAt);
  const because = `its armed dog without a renewal for ${Math.floor(waited)} s of T_safe ${safe.arithmetic}`;
  return waited >= safe.seconds ? { kind: "dead", proof: { kind: "watchdog", because } } : { kind: "none", because };
}

function reasonAgainstTimeRule(facts: DeathFacts, { mode, armed, bootId }: FencingStatement): string | undefined {
  const { node, policy, agentLease, kubeletLease } = facts;
  if (policy.fencing.proof !== "watchdog") return "the policy asks for proof from EC2";
  if (mode !== "watchdog") return `mode ${mode} feeds without renewals`;
  if (!armed) return "its last Lease said that no dog is armed";
  if (bootId !== node.bootId) return "the Node is of another boot than its last Lease";
  const [agentAt, kubeletAt] = [agentLease?.renewTime, kubeletLease?.renewTime];
  if (agentAt === undefined || kubeletAt === undefined) return "its Leases don't both say when they were renewed";
  if (secondsBetween(agentAt, kubeletAt) > LEASES_APART_SECONDS) return "its kubelet went on after its agent had ended";
  return undefined;
}

function decideStop({
  instance,
  policy,
  silence,
  observedAt,
  record,
}: DeathFacts): Exclude<ProofDecision, { kind: "dead" }> {
  const { stop, stopAfterSeconds } = policy.fencing;
  const none = (because: string): ProofDecision & { kind: "none" } => ({ kind: "none", because });
  if (stop === "never") return none("the policy never stops an instance");
  if (record?.stop !== undefined) return none(`it was told to ${record.stop.how} at ${record.stop.at}`);
  if (instance.kind !== "listed" || instance.state !== "running") return none("only a running instance is stopped");
  const silentFor = Math.floor(secondsBetween(silentSince(silence), observedAt));
  const because = `EC2 says running, and nothing was heard for ${silentFor} s`;
  if (silentFor < stopAfterSeconds) return none(`it is stopped after ${stopAfterSeconds} s, silent for ${silentFor} s`);
  return { kind: "stop", how: instance.isSpot || instance.group !== undefined ? "terminate" : "stop", because };
}
