/** One strike at a time: what may follow what, and when. */
import { describe, expect, it } from "vitest";
import { decideStrike, decideTurn, keepStrikes } from "../../../../node-agent/early-oom/decide/strike.ts";
import type { Shortage, Strike, StrikeMode } from "../../../../node-agent/early-oom/words.ts";
import { aContainer, factsByPod, factsOf, GIB, GIB_IN_KIB } from "./fixtures/memory.ts";

const short: Shortage = { kind: "short", rule: "A", because: "100 MiB available, below 205 MiB" };
const large = aContainer({ podUid: "11111111-1111-4111-8111-111111111111", workingSetBytes: 3 * GIB });
const small = aContainer({ podUid: "22222222-1111-4111-8111-111111111111", workingSetBytes: GIB });

function strikeOf(container = large, changes: Partial<Strike> = {}): Strike {
  return { atMs: 10_000, cgroup: container.cgroup, gone: false, ...changes };
}

function move(strikes: readonly Strike[], nowMs: number, others: { mode?: StrikeMode; again?: Shortage } = {}): string {
  const { mode = "cgroup", again = short } = others;
  const facts = factsByPod(factsOf(large), factsOf(small));
  const question = { totalKib: 4 * GIB_IN_KIB, containers: [large, small], facts, ownPodUid: "own", strikes };
  const decided = decideStrike({ mode, nowMs, again, question });
  switch (decided.kind) {
    case "kill":
      return decided.victim.container === large ? "kill large" : "kill small";
    case "wait":
      return `wait until ${decided.untilMs}`;
    case "nothing":
    case "sysrq":
      return decided.kind;
  }
}

describe("case 56: two victims for one shortage", () => {
  it.each([
    { why: "nobody was struck", strikes: [], nowMs: 10_000, next: "kill large" },
    { why: "the struck one isn't gone after 1.9 s", strikes: [strikeOf()], nowMs: 11_999, next: "wait until 12000" },
    { why: "it isn't gone after 2 s", strikes: [strikeOf()], nowMs: 12_000, next: "kill small" },
    { why: "it is gone", strikes: [strikeOf(large, { gone: true })], nowMs: 10_100, next: "wait until 25000" },
    { why: "it was gone 15 s ago", strikes: [strikeOf(large, { gone: true })], nowMs: 25_000, next: "kill small" },
    {
      why: "two don't go",
      strikes: [strikeOf(), strikeOf(small, { atMs: 12_000 })],
      nowMs: 14_000,
      next: "sysrq",
    },
    {
      why: "the strike couldn't be carried out",
      strikes: [strikeOf(large, { failed: true })],
      nowMs: 10_100,
      next: "kill small",
    },
    {
      why: "the first one goes late, while the second one still doesn't",
      strikes: [strikeOf(large, { gone: true }), strikeOf(small, { atMs: 12_000 })],
      nowMs: 14_500,
      next: "wait until 25000",
    },
    {
      why: "the first one goes late, after the second couldn't be struck",
      strikes: [strikeOf(large, { gone: true }), strikeOf(small, { atMs: 12_000, failed: true })],
      nowMs: 12_100,
      next: "wait until 25000",
    },
    {
      why: "the kernel was asked a moment ago",
      strikes: [strikeOf(), { atMs: 14_000, cgroup: undefined, gone: true }],
      nowMs: 14_100,
      next: "wait until 29000",
    },
  ])("when $why: $next", ({ strikes, nowMs, next }) => {
    expect(move(strikes, nowMs)).toBe(next);
  });

  it("memory that recovered before the strike saves the victim", () => {
    const again: Shortage = { kind: "fine", because: "enough memory" };
    expect(move([], 10_000, { again })).toBe("nothing");
    expect(move([strikeOf()], 20_000, { again })).toBe("nothing");
    expect(move([], 10_000, { again, mode: "kernel" })).toBe("nothing");
  });
});

it("mode kernel asks the kernel only, and pauses as well", () => {
  expect(move([], 10_000, { mode: "kernel" })).toBe("sysrq");
  const asked = [{ atMs: 10_000, cgroup: undefined, gone: true }];
  expect(move(asked, 24_999, { mode: "kernel" })).toBe("wait until 25000");
  expect(move(asked, 25_000, { mode: "kernel" })).toBe("sysrq");
});

it("whether to wait is known before containers are scanned", () => {
  expect(decideTurn([], 0).kind).toBe("strike");
  expect(decideTurn([strikeOf()], 10_500)).toMatchObject({ kind: "wait", untilMs: 12_000 });
});

it("strikes are forgotten after the pause, but not who doesn't go", () => {
  const strikes = [strikeOf(), strikeOf(small, { gone: true })];
  expect(keepStrikes(strikes, 24_999)).toEqual(strikes);
  expect(keepStrikes(strikes, 25_000)).toEqual([strikeOf()]);
});

it("a container that couldn't be struck may be tried again after the pause", () => {
  const failed = strikeOf(large, { failed: true });
  expect(keepStrikes([failed], 24_999)).toEqual([failed]);
  expect(keepStrikes([failed], 25_000)).toEqual([]);
});
