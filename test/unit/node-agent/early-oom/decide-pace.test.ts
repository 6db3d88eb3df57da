/** How often memory and containers are looked at. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decidePause, decideScan } from "../../../../node-agent/early-oom/decide/pace.ts";
import { shortageLineKib } from "../../../../node-agent/early-oom/decide/shortage.ts";
import { allRules, aSample, GIB_IN_KIB, MIB_IN_KIB } from "./fixtures/memory.ts";

const total = 4 * GIB_IN_KIB;
const line = shortageLineKib(total, allRules);

describe("the pause between two looks", () => {
  it.each([
    { why: "below the line", headroomKib: -1, pauseMs: 100 },
    { why: "on the line", headroomKib: 0, pauseMs: 100 },
    { why: "with 600 000 KiB left above it", headroomKib: 600_000, pauseMs: 100 },
    { why: "with 3 000 000 KiB left above it", headroomKib: 3_000_000, pauseMs: 500 },
    { why: "with much more", headroomKib: 60_000_000, pauseMs: 1000 },
  ])("$why is $pauseMs ms", ({ headroomKib, pauseMs }) => {
    expect(decidePause(aSample({ availableKib: line + headroomKib }), allRules)).toBe(pauseMs);
  });

  it("is never longer than the headroom lasts at 6 GB/s, unless the shortest pause is", () => {
    const held = fc.property(fc.integer({ min: 0, max: 512 * GIB_IN_KIB }), (availableKib) => {
      const pause = decidePause(aSample({ totalKib: 512 * GIB_IN_KIB, availableKib }), allRules);
      expect(pause).toBeGreaterThanOrEqual(100);
      expect(pause).toBeLessThanOrEqual(1000);
      const lasts = (availableKib - shortageLineKib(512 * GIB_IN_KIB, allRules)) / 6000;
      expect(pause <= 100 || pause <= lasts + 1).toBe(true);
    });
    fc.assert(held);
  });
});

describe("containers are scanned", () => {
  const well = (atMs: number) => [aSample({ atMs, availableKib: 3 * GIB_IN_KIB })];
  const near = (atMs: number) => [aSample({ atMs, availableKib: line * 2.9 })];
  const racing = [aSample({ atMs: 8_000, availableKib: 3 * GIB_IN_KIB }), ...well(9_000)].map((sample, i) => ({
    ...sample,
    availableKib: sample.availableKib - i * 400 * MIB_IN_KIB,
  }));

  it.each([
    { why: "for the first time", samples: well(0), last: undefined, kind: "scan" },
    { why: "after 29.9 s on a node that is well", samples: well(29_900), last: 0, kind: "later" },
    { why: "after 30 s on a node that is well", samples: well(30_000), last: 0, kind: "scan" },
    { why: "after 1.9 s near a shortage", samples: near(1_900), last: 0, kind: "later" },
    { why: "after 2 s near a shortage", samples: near(2_000), last: 0, kind: "scan" },
    { why: "after 2 s when memory races towards it", samples: racing, last: 7_000, kind: "scan" },
    { why: "before memory was looked at", samples: [], last: undefined, kind: "later" },
  ])("$why: $kind", ({ samples, last, kind }) => {
    expect(decideScan(samples, allRules, last).kind).toBe(kind);
  });
});
