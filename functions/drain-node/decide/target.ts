/** Whether a signal is to be acted on at all: which node it means, whose that is, and whether it is still true. */
import { instanceIdOf } from "../../../shared/domain/instance-id.ts";
import type { ClusterNode } from "../../../shared/domain/node.ts";
import { again, done } from "../../../shared/domain/outcome.ts";
import { isIgnored, type Policy } from "../../../shared/domain/policy.ts";
import type { Signal } from "../../../shared/domain/signal.ts";
import { isUnderWay } from "./record.ts";
import { plusSeconds } from "./times.ts";
import type { Verdict } from "./verdict.ts";

export type Identity =
  | { readonly kind: "node"; readonly node: ClusterNode }
  | { readonly kind: "none" }
  /** Two nodes claim the instance, or label and providerID disagree: reported, nothing done. */
  | { readonly kind: "ambiguous"; readonly because: string };

/** A label is a hint, `spec.providerID` is the identity. */
export function decideIdentity(instanceId: string, hits: readonly ClusterNode[]): Identity {
  const [node, second] = hits;
  if (!node) return { kind: "none" };
  if (second)
    return { kind: "ambiguous", because: `nodes ${hits.map((hit) => hit.name).join(", ")} claim the instance` };
  if (instanceIdOf(node.providerId) === instanceId) return { kind: "node", node };
  return {
    kind: "ambiguous",
    because: `node ${node.name} is labelled with the instance, its providerID is of another`,
  };
}

/** How long after its deadline a signal may still be true of a node that is Ready. */
const STALE_AFTER_SECONDS = 300;

/** Whether a Ready node disproves the signal, unless it is being drained for it. */
export function isLongPast(signal: Signal, now: Date): boolean {
  return now > plusSeconds(signal.deadline, STALE_AFTER_SECONDS);
}

/** Undefined where the node is to be drained. */
export function decideTarget(
  signal: Signal,
  { node, policy }: { readonly node: ClusterNode; readonly policy: Policy },
  now: Date,
): Verdict | undefined {
  if (isIgnored(policy, node)) {
    return { decision: "ignored", outcome: done("node belongs to another controller (ignore selector)") };
  }
  if (node.ready === "True" && isLongPast(signal, now) && !isUnderWay(node)) {
    return { decision: "stale", outcome: done("its deadline is more than 5 min past and the node is Ready") };
  }
  return undefined;
}

/** What EC2 says of an instance that no Node has. */
export type StrangerAnswer =
  | { readonly kind: "listed"; readonly state: string; readonly tags: Readonly<Record<string, string>> }
  | { readonly kind: "not-listed" }
  /** Throttled, denied, out of reach: never taken for "not listed". */
  | { readonly kind: "unavailable"; readonly because: string };

/** While an instance of ours hasn't joined, its Node is looked for this often. */
const JOIN_LOOK_SECONDS = 5;

/** Foreign, gone, or yet to join; the last is bounded by the signal's deadline. */
export function decideStranger(
  signal: Signal,
  {
    answer,
    requireTag,
  }: {
    readonly answer: StrangerAnswer;
    readonly requireTag: { readonly name: string; readonly value?: string | undefined };
  },
  now: Date,
): Verdict {
  switch (answer.kind) {
    case "not-listed":
      return { decision: "foreign", outcome: done("no node has the instance and EC2 doesn't list it") };
    case "unavailable":
      return awaitNode(signal, now, `no node has the instance, and EC2 couldn't be asked: ${answer.because}`);
    case "listed": {
      const value = answer.tags[requireTag.name];
      if (value === undefined || (requireTag.value !== undefined && requireTag.value !== value)) {
        return { decision: "foreign", outcome: done(`instance doesn't carry the tag ${requireTag.name}`) };
      }
      if (answer.state === "terminated") {
        return { decision: "node-gone", outcome: done("instance is terminated and no node has it") };
      }
      return awaitNode(signal, now, "instance has not joined the cluster yet");
    }
  }
}

function awaitNode(signal: Signal, now: Date, because: string): Verdict {
  const inTime = now < signal.deadline;
  const outcome = inTime ? again(JOIN_LOOK_SECONDS, because) : done(`${because}, and its time is over`);
  return { decision: "not-joined", outcome };
}
