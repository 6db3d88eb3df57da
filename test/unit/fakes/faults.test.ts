/** The dice of the fault proxy: repeatable, bounded, and only for the requests they are for. */
import { expect, test } from "vitest";
import { FaultChooser, type FaultRule } from "../../support/faults/faults.ts";

const RESET = { kind: "reset-before" } as const;

function chosen(rules: readonly FaultRule[], seed = 1): (count: number, method?: string, path?: string) => number {
  const chooser = new FaultChooser(seed);
  chooser.replace(rules);
  return (count, method = "GET", path = "/api/v1/nodes") =>
    Array.from({ length: count }, () => chooser.choose(method, path)).filter((fault) => fault !== undefined).length;
}

test("a rule for some requests leaves the others alone", () => {
  const choose = chosen([{ fault: RESET, method: "POST", path: /\/eviction$/ }]);
  expect(choose(1, "GET", "/x/eviction")).toBe(0);
  expect(choose(1, "POST", "/x")).toBe(0);
  expect(choose(1, "POST", "/x/eviction")).toBe(1);
});

test("a rule for three times is over after three", () => {
  expect(chosen([{ fault: RESET, times: 3 }])(10)).toBe(3);
});

test("when one rule is used up the next has its turn", () => {
  const chooser = new FaultChooser(1);
  chooser.replace([
    { fault: RESET, times: 1 },
    { fault: { kind: "delay", ms: 1 }, times: 1 },
  ]);
  const kinds = [1, 2, 3].map(() => chooser.choose("GET", "/")?.kind);
  expect(kinds).toEqual(["reset-before", "delay", undefined]);
});

test("a probability is kept to, and the same seed throws the same dice", () => {
  const rules = [{ fault: RESET, probability: 0.3 }];
  const hits = chosen(rules, 7)(10_000);
  expect(hits).toBeGreaterThan(2_800);
  expect(hits).toBeLessThan(3_200);
  expect(chosen(rules, 7)(10_000)).toBe(hits);
  expect(chosen(rules, 8)(10_000)).not.toBe(hits);
});
