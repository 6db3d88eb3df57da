/**
 * PodDisruptionBudgets as the eviction API judges by them. The real one reads counts that a controller keeps; here
 * they are counted at each question. https://kubernetes.io/docs/tasks/run-application/configure-pdb/
 */
import type { Pod } from "../../../shared/domain/pod.ts";
import { type LabelMap, matchesSelector } from "../../../shared/domain/selector.ts";
import { blockedByBudget, type Refusal, severalBudgets } from "./refusal.ts";

export interface Budget {
  readonly namespace: string;
  readonly name: string;
  /** Empty: every pod of the namespace. */
  readonly matchLabels: LabelMap;
  /** How many of its pods must stay Ready. */
  readonly minAvailable: number;
}

/** Why the budgets refuse the eviction of a pod; undefined when they allow it. */
export function budgetRefusal(pod: Pod, budgets: readonly Budget[], pods: readonly Pod[]): Refusal | undefined {
  if (pod.phase !== "Running" || pod.deletionTimestamp) return undefined;
  const [budget, ...others] = budgets.filter((one) => covers(one, pod));
  if (budget === undefined) return undefined;
  if (others.length > 0) return severalBudgets();

  const { name, minAvailable } = budget;
  const healthy = pods.filter((one) => covers(budget, one) && one.ready && !one.deletionTimestamp).length;
  // A pod that isn't Ready takes nothing away: it may go where the others are enough.
  const isAllowed = pod.ready ? healthy > minAvailable : healthy >= Math.max(minAvailable, 1);
  if (isAllowed) return undefined;
  return blockedByBudget(
    `The disruption budget ${name} needs ${minAvailable} healthy pods and has ${healthy} currently`,
  );
}

function covers({ namespace, matchLabels }: Budget, pod: Pod): boolean {
  return pod.namespace === namespace && matchesSelector(pod.labels, { matchLabels, matchExpressions: [] });
}
