/**
 * Reads the answers to evictions and deletions of pods.
 * https://kubernetes.io/docs/concepts/scheduling-eviction/api-eviction/
 */
import type { DeletionAnswer, EvictionAnswer } from "../ports/cluster.ts";
import { describeFailure, type Failure, failureOf, hasCause, isTransient } from "./kube-answers.ts";

/** Cause by which a budget's refusal differs from priority and fairness, which is a 429 too. */
const BUDGET_CAUSE = "DisruptionBudget";
const NAMESPACE_TERMINATING_CAUSE = "NamespaceTerminating";
/** How the API server begins the only sentence that names the budget. */
const BUDGET_SENTENCE = /^The disruption budget (\S+) /;
/** The eviction API gives up on a pod that several budgets select; the answer has no code of its own. */
const SEVERAL_BUDGETS = /more than one PodDisruptionBudget/;
const UID_MISMATCH = /UID in (the )?precondition/i;

/** What both kinds of ending a pod have in common when they fail. */
type PodFailure = Exclude<DeletionAnswer, { kind: "deleted" }>;

export function readEvictionFailure(error: unknown): EvictionAnswer {
  const failure = failureOf(error);
  if (failure.kind === "answer" && hasCause(failure, BUDGET_CAUSE)) return blockedByBudget(failure);
  if (SEVERAL_BUDGETS.test(failure.message)) return { kind: "blocked", budget: undefined, because: failure.message };
  if (hasCause(failure, NAMESPACE_TERMINATING_CAUSE)) return { kind: "namespace-terminating" };
  return readPodFailure(failure);
}

export function readDeletionFailure(error: unknown): DeletionAnswer {
  return readPodFailure(failureOf(error));
}

export function isNamespaceTerminating(error: unknown): boolean {
  return hasCause(failureOf(error), NAMESPACE_TERMINATING_CAUSE);
}

function readPodFailure(failure: Failure): PodFailure {
  const because = describeFailure(failure);
  if (failure.kind === "no-answer") return { kind: "unanswered", because };
  if (failure.code === 404) return { kind: "gone" };
  if (failure.code === 409)
    return UID_MISMATCH.test(failure.message) ? { kind: "gone" } : { kind: "unanswered", because };
  if (failure.code === 429) return { kind: "throttled", retryAfterSeconds: failure.retryAfterSeconds };
  return isTransient(failure) ? { kind: "unanswered", because } : { kind: "refused", because };
}

function blockedByBudget(failure: Extract<Failure, { kind: "answer" }>): EvictionAnswer {
  const sentence = failure.causes.find((cause) => cause.reason === BUDGET_CAUSE)?.message ?? "";
  return { kind: "blocked", budget: BUDGET_SENTENCE.exec(sentence)?.[1], because: sentence || failure.message };
}
