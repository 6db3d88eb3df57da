/** Rules A, B and C on the courses that were measured on real nodes, and at their edges. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decideShortage, describeRules, shortageLineKib } from "../../../../node-agent/early-oom/decide/shortage.ts";
import { keepWindow } from "../../../../node-agent/early-oom/decide/window.ts";
import type { MemorySample, Pressure, Rules } from "../../../../node-agent/early-oom/words.ts";
import { allRules, aSample, findAlarm, GIB_IN_KIB, MIB_IN_KIB, noPressure } from "./fixtures/memory.ts";

const total = 4 * GIB_IN_KIB;
const onlyA: Rules = { ...allRules, b: false, c: false };
const onlyB: Rules = { ...allRules, a: false, c: false };
const onlyC: Rules = { ...allRules, a: false, b: false };

function pressure(someTotalUs: number, fullTotalUs: number, fullAvg10 = 0): Pressure {
  return { kind: "measured", someTotalUs, fullTotalUs, fullAvg10 };
}

const leakOf = (mibPerSecond: number) => (atMs: number) =>
  Math.max(0, 2 * GIB_IN_KIB - (atMs / 1000) * mibPerSecond * MIB_IN_KIB);

describe("rule A", () => {
  it.each([20, 100, 400, 800])(
    "case 55: a leak of %d MiB/s without swap is seen while memory is left, though pressure stays low",
    (rate) => {
      const course = {
        totalKib: total,
        forMs: 150_000,
        availableKib: leakOf(rate),
        pressure: () => pressure(0, 0, 4.9),
      };
      const alarm = findAlarm(course);
      expect(alarm).toMatchObject({ rule: "A" });
      expect(alarm?.availableKib).toBeGreaterThan(0);
    },
  );

  it("case 52: a fast leak is seen without pressure figures too", () => {
    const course = { totalKib: total, forMs: 60_000, availableKib: leakOf(200), pressure: () => noPressure };
    expect(findAlarm(course)).toMatchObject({ rule: "A" });
  });

  it("anonymous load that stays at 97 % for minutes is no shortage, whatever its breathing", () => {
    const breathing = fc.array(fc.integer({ min: -4 * MIB_IN_KIB, max: 4 * MIB_IN_KIB }), { minLength: 20 });
    const held = fc.property(breathing, (breaths) => {
      const availableKib = (atMs: number) => total * 0.03 + (breaths[Math.floor(atMs / 100) % breaths.length] ?? 0);
      // Now and then a process waits for a page: 1 ms in a second.
      expect(findAlarm({ totalKib: total, forMs: 300_000, availableKib, pressure: (at) => pressure(at, 0) })).toBe(
        undefined,
      );
    });
    fc.assert(held, { numRuns: 20 });
  });

  it("a load that came to rest below the line is no shortage a second later", () => {
    const availableKib = (atMs: number) => total * (atMs < 1_000 ? 0.2 : 0.03);
    const samples = Array.from({ length: 30 }, (_, i) =>
      aSample({ atMs: i * 100, availableKib: availableKib(i * 100) }),
    );
    expect(decideShortage(samples.slice(0, 12), allRules)).toMatchObject({ kind: "short", rule: "A" });
    expect(decideShortage(samples.slice(0, 22), allRules)).toEqual({
      kind: "fine",
      because: "little memory, but steady",
    });
  });

  it("steady memory is a shortage where tasks begin to wait for it", () => {
    const course = { totalKib: total, forMs: 60_000, availableKib: () => total * 0.02 };
    expect(findAlarm({ ...course, pressure: (atMs) => pressure(atMs * 20, 0) })).toMatchObject({ rule: "A" });
    expect(findAlarm({ ...course, pressure: (atMs) => pressure(atMs * 1, 0) })).toBe(undefined);
  });

  it("memory full of page cache is no shortage, since it can be had", () => {
    const reading = { totalKib: total, forMs: 60_000, availableKib: (atMs: number) => total * 0.6 - atMs * 10 };
    expect(findAlarm({ ...reading, pressure: (atMs) => pressure(atMs * 100, 0) })).toBe(undefined);
  });

  it("a 64 GiB node with 4 % available and falling is no shortage: that is 2.5 GiB", () => {
    const large = 64 * GIB_IN_KIB;
    const availableKib = (atMs: number) => large * 0.04 - atMs * 10;
    expect(findAlarm({ totalKib: large, forMs: 60_000, availableKib })).toBe(undefined);
    expect(shortageLineKib(large, allRules)).toBe(500 * MIB_IN_KIB);
    expect(shortageLineKib(total, allRules)).toBe(total * 0.05);
    expect(shortageLineKib(large, { ...allRules, evictionHardKib: 600 * MIB_IN_KIB })).toBe(1000 * MIB_IN_KIB);
  });

  it("a single look below the line isn't enough", () => {
    const above = aSample({ atMs: 0, availableKib: total * 0.051 });
    const below = aSample({ atMs: 100, availableKib: total * 0.04 });
    const again = aSample({ atMs: 200, availableKib: total * 0.03 });
    expect(decideShortage([above, below], onlyA).kind).toBe("fine");
    expect(decideShortage([above, below, again], onlyA).kind).toBe("short");
  });

  it("exactly on the line is enough memory", () => {
    const on = (atMs: number) => aSample({ atMs, availableKib: total * 0.05, pressure: pressure(atMs * 1000, 0) });
    expect(decideShortage([on(0), on(100), on(200)], onlyA).kind).toBe("fine");
  });
});

describe("rule B", () => {
  const looks = (fullAvg10: number) => [aSample({ pressure: pressure(0, 0, fullAvg10) })];

  it.each([
    { fullAvg10: 30, kind: "fine" },
    { fullAvg10: 30.01, kind: "short" },
  ])("when every task waited for $fullAvg10 % of 10 s, memory is $kind", ({ fullAvg10, kind }) => {
    expect(decideShortage(looks(fullAvg10), onlyB).kind).toBe(kind);
  });

  it.each([
    { why: "nobody has waited for a second", fullMs: 0, kind: "fine" },
    { why: "waiting has all but ended", fullMs: 49, kind: "fine" },
    { why: "it goes on", fullMs: 50, kind: "short" },
  ])("with an average that is still high, where $why, memory is $kind", ({ fullMs, kind }) => {
    const before = aSample({ atMs: 0, pressure: pressure(0, 0, 60) });
    const now = aSample({ atMs: 1_000, pressure: pressure(0, fullMs * 1_000, 54) });
    expect(decideShortage([before, now], onlyB).kind).toBe(kind);
  });

  it("says nothing without pressure figures", () => {
    expect(decideShortage([aSample({ pressure: noPressure })], onlyB).kind).toBe("fine");
  });
});

describe("rule C", () => {
  const course = (availableShare: number, fullMs: readonly number[]) =>
    fullMs.map((ms, second) =>
      aSample({ atMs: second * 1000, availableKib: total * availableShare, pressure: pressure(0, ms * 1000) }),
    );

  it.each([
    { why: "301 ms twice running", share: 0.15, totals: [0, 301, 602], kind: "short" },
    { why: "300 ms twice running", share: 0.15, totals: [0, 300, 600], kind: "fine" },
    { why: "a second between two that wait", share: 0.15, totals: [0, 900, 900, 1800], kind: "fine" },
    { why: "one second only", share: 0.15, totals: [0, 900], kind: "fine" },
    { why: "much waiting, but 16 % available", share: 0.16, totals: [0, 900, 1800], kind: "fine" },
  ])("$why: $kind", ({ share, totals, kind }) => {
    expect(decideShortage(course(share, totals), onlyC).kind).toBe(kind);
  });

  it("sees the same with ten looks a second", () => {
    const waiting = { totalKib: total, forMs: 60_000, availableKib: () => total * 0.1 };
    expect(findAlarm({ ...waiting, pressure: (atMs) => pressure(0, atMs * 310) }, onlyC)).toMatchObject({ rule: "C" });
    expect(findAlarm({ ...waiting, pressure: (atMs) => pressure(0, atMs * 290) }, onlyC)).toBe(undefined);
  });
});

it("each rule can be switched off, and with all off nothing is a shortage", () => {
  const terrible: Course = { availableKib: leakOf(200), pressure: (atMs) => pressure(atMs * 900, atMs * 900, 90) };
  const course = { totalKib: total, forMs: 60_000, ...terrible };
  expect(findAlarm(course, onlyA)).toMatchObject({ rule: "A" });
  expect(findAlarm(course, onlyB)).toMatchObject({ rule: "B" });
  expect(findAlarm(course, onlyC)).toMatchObject({ rule: "C" });
  expect(findAlarm(course, { ...allRules, a: false, b: false, c: false })).toBe(undefined);
});

interface Course {
  readonly availableKib: (atMs: number) => number;
  readonly pressure: (atMs: number) => Pressure;
}

it("the effective rule is told as one text with this node's figures", () => {
  expect(describeRules(total, allRules)).toBe(
    "A: less than 205 MiB of 4096 MiB available at two looks, and 8 MiB less than 5 s before and still falling, or tasks wait; " +
      "B: every task waits more than 30 % of 10 s, and still does; " +
      "C: every task waits more than 300 ms of a second, twice running, with at most 614 MiB available",
  );
  expect(describeRules(total, onlyB)).toBe("B: every task waits more than 30 % of 10 s, and still does");
  expect(describeRules(total, { ...allRules, a: false, b: false, c: false })).toContain("nothing is ever struck");
});

it("a node that wasn't looked at yet is fine", () => {
  expect(decideShortage([], allRules).kind).toBe("fine");
});

describe("the window of samples", () => {
  it("stays bounded and keeps what the rules look back on, whatever the pace", () => {
    const pauses = fc.array(fc.integer({ min: 1, max: 30_000 }), { minLength: 1, maxLength: 400 });
    const held = fc.property(pauses, (steps) => {
      let window: readonly MemorySample[] = [];
      const all: MemorySample[] = [];
      let atMs = 0;
      for (const step of steps) {
        atMs += step;
        all.push(aSample({ atMs }));
        window = keepWindow(window, aSample({ atMs }));
      }
      expect(window.length).toBeLessThanOrEqual(128);
      expect(window.at(-1)?.atMs).toBe(atMs);
      const oldest = all.findLast((sample) => sample.atMs <= atMs - 5_000)?.atMs ?? all[0]?.atMs;
      if (window.length < 128) expect(window[0]?.atMs).toBe(oldest);
    });
    fc.assert(held);
  });
});
