/** T_safe: the sum an operator can check, and never shorter than anything it must outlast. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { FENCING_BOUNDS, safeTime } from "../../../shared/domain/fencing-bound.ts";
import { safeTimeFor } from "../../../shared/domain/fencing-policy.ts";
import { aNodePolicy } from "../../builders/a-policy.ts";

const DOG = { watchdogTimeoutSeconds: 60, feedWithinSeconds: 10 };

describe("the time by which a node without renewals has reset itself", () => {
  it.each([
    ["3W", 187, "3 x W 60 s + E 5 s + 2 s = 187 s"],
    ["G+2W", 137, "G 10 s + 2 x W 60 s + E 5 s + 2 s = 137 s"],
  ] as const)("by %s is %d s for W = 60, G = 10, E = 5", (bound, seconds, arithmetic) => {
    expect(safeTime({ bound, marginSeconds: 5 }, DOG)).toEqual({ seconds, arithmetic });
  });

  const { fencing } = aNodePolicy();
  it.each([
    ["what is configured, if that is longer", { ...fencing, safeAfterSeconds: 300 }, DOG, 300],
    ["what the node published, if its dog is slower", fencing, { ...DOG, watchdogTimeoutSeconds: 90 }, 277],
    ["what is assumed, if the node's dog is quicker", fencing, { ...DOG, watchdogTimeoutSeconds: 30 }, 187],
    ["what is assumed, if the node published nothing", fencing, undefined, 187],
  ])("is %s", (_, given, published, seconds) => {
    expect(safeTimeFor(given, published).seconds).toBe(seconds);
  });

  it("is never shorter than the bound for the assumed and for the published times", () => {
    const times = fc.record({
      watchdogTimeoutSeconds: fc.integer({ min: 1, max: 3600 }),
      feedWithinSeconds: fc.integer({ min: 1, max: 600 }),
    });
    const rule = fc.record({
      bound: fc.constantFrom(...FENCING_BOUNDS),
      marginSeconds: fc.integer({ min: 1, max: 60 }),
    });
    fc.assert(
      fc.property(times, times, rule, (assumed, published, given) => {
        const { seconds } = safeTimeFor({ ...fencing, ...assumed, ...given }, published);
        expect(seconds).toBeGreaterThanOrEqual(safeTime(given, assumed).seconds);
        expect(seconds).toBeGreaterThanOrEqual(safeTime(given, published).seconds);
      }),
    );
  });
});
