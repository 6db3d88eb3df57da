/** The budgets of the embedded cluster in all their spellings. */
import { expect, test } from "vitest";
import { aPod } from "../../builders/a-pod.ts";
import type { Budget } from "../../fakes/kube-api/budgets.ts";
import { budgetRefusal } from "../../fakes/kube-api/budgets.ts";

function allows(budget: Partial<Budget>, { ready = true } = {}): boolean {
  const all = [1, 2, 3, 4].map((n) => aPod({ name: `pod-${n}`, ready }));
  const [first = aPod()] = all;
  return (
    budgetRefusal(first, [{ namespace: "default", name: "pdb", matchLabels: { app: "web" }, ...budget }], all) ===
    undefined
  );
}

test.each<[string, Partial<Budget>, boolean]>([
  ["3 of 4 must stay", { minAvailable: 3 }, true],
  ["4 of 4 must stay", { minAvailable: 4 }, false],
  ["75% of 4 must stay", { minAvailable: "75%" }, true],
  ["76% of 4, rounded up, must stay", { minAvailable: "76%" }, false],
  ["none may go", { maxUnavailable: 0 }, false],
  ["one may go", { maxUnavailable: 1 }, true],
  ["10% may go, which is rounded up to one", { maxUnavailable: "10%" }, true],
  ["one of 5 may go, and one is away already", { maxUnavailable: 1, expectedPods: 5 }, false],
  ["it is of another namespace", { maxUnavailable: 0, namespace: "other" }, true],
  ["it is for other labels", { maxUnavailable: 0, matchLabels: { app: "db" } }, true],
  ["it is for every pod", { maxUnavailable: 0, matchLabels: {} }, false],
])("when %s, an eviction of one of 4 is allowed: %s", (_, budget, allowed) => {
  expect(allows(budget)).toBe(allowed);
});

test("a pod that isn't Ready goes if its budget always allows that", () => {
  const blocked = { minAvailable: 4, unhealthyPodEvictionPolicy: "IfHealthyBudget" } as const;
  expect(allows(blocked, { ready: false })).toBe(false);
  expect(allows({ ...blocked, unhealthyPodEvictionPolicy: "AlwaysAllow" }, { ready: false })).toBe(true);
});
