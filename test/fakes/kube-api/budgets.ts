/**
 * PodDisruptionBudgets as the eviction API judges by them. The real one reads counts that a controller keeps; here
 * they are counted at each question. https://kubernetes.io/docs/tasks/run-application/configure-pdb/
 */
import type { Pod } from "../../../shared/domain/pod.ts";
import type { LabelMap } from "../../../shared/domain/selector.ts";
import { blockedByBudget, type Refusal, severalBudgets } from "./refusal.ts";

export interface Budget {
  readonly namespace: string;
  readonly name: string;
  /** Empty: every pod of the namespace. */
  readonly matchLabels: LabelMap;
  /** Exactly one of the two; `"50%"` is of `expectedPods`. */
  readonly minAvailable?: number | string;
  readonly maxUnavailable?: number | string;
  /** How many pods their controller wants; default: how many there are. */
  readonly expectedPods?: number;
  readonly unhealthyPodEvictionPolicy?: "IfHealthyBudget" | "AlwaysAllow";
}

/** Why the budgets refuse the eviction of a pod; undefined when they allow it. */
export function budgetRefusal(pod: Pod, budgets: readonly Budget[], pods: readonly Pod[]): Refusal | undefined {
  if (pod.phase !== "Running" || pod.deletionTimestamp !== undefined) return undefined;
  const [budget, ...others] = budgets.filter((one) => covers(one, pod));
  if (budget === undefined) return undefined;
  if (others.length > 0) return severalBudgets();

  const { expected, desired, healthy } = countPods(budget, pods);
  if (!pod.ready) {
    if (budget.unhealthyPodEvictionPolicy === "AlwaysAllow") return undefined;
    if (healthy >= desired && desired > 0) return undefined;
  }
  if (expected > 0 && healthy > desired) return undefined;
  if (healthy > desired)
    return blockedByBudget(`The disruption budget ${budget.name} does not allow evicting pods currently`);
  return blockedByBudget(
    `The disruption budget ${budget.name} needs ${desired} healthy pods and has ${healthy} currently`,
  );
}

function covers(budget: Budget, pod: Pod): boolean {
  if (budget.namespace !== pod.namespace) return false;
  return Object.entries(budget.matchLabels).every(([key, value]) => pod.labels[key] === value);
}

function countPods(budget: Budget, pods: readonly Pod[]): { expected: number; desired: number; healthy: number } {
  const covered = pods.filter((pod) => covers(budget, pod));
  const healthy = covered.filter((pod) => pod.ready && pod.deletionTimestamp === undefined).length;
  const expected = budget.expectedPods ?? covered.length;
  const desired =
    budget.minAvailable !== undefined
      ? scaled(budget.minAvailable, expected)
      : Math.max(0, expected - scaled(budget.maxUnavailable ?? 0, expected));
  return { expected, desired, healthy };
}

function scaled(value: number | string, whole: number): number {
  return typeof value === "number" ? value : Math.ceil((Number.parseInt(value, 10) / 100) * whole);
}
