/** Which evictions the budgets of the embedded cluster let through. */
import { expect, test } from "vitest";
import { aPod } from "../../builders/a-pod.ts";
import { type Budget, budgetRefusal } from "../../fakes/kube-api/budgets.ts";

function allows(given: Partial<Budget>): boolean {
  const all = [1, 2, 3, 4].map((n) => aPod({ name: `pod-${n}` }));
  const [first = aPod()] = all;
  const budget = { namespace: "default", name: "pdb", matchLabels: { app: "web" }, minAvailable: 4, ...given };
  return budgetRefusal(first, [budget], all) === undefined;
}

test.each<[string, Partial<Budget>, boolean]>([
  ["3 of 4 must stay", { minAvailable: 3 }, true],
  ["4 of 4 must stay", { minAvailable: 4 }, false],
  ["it is of another namespace", { namespace: "other" }, true],
  ["it is for other labels", { matchLabels: { app: "db" } }, true],
  ["it is for every pod", { matchLabels: {} }, false],
])("when %s, an eviction of one of 4 is allowed: %s", (_, budget, allowed) => {
  expect(allows(budget)).toBe(allowed);
});

test("a budget of 0 lets the last Ready pod go, and keeps one that isn't Ready where none is", () => {
  const budget = { namespace: "default", name: "pdb", matchLabels: {}, minAvailable: 0 };
  const [ready, unready] = [aPod(), aPod({ ready: false })];
  expect(budgetRefusal(ready, [budget], [ready])).toBeUndefined();
  expect(budgetRefusal(unready, [budget], [unready])?.code).toBe(429);
});
