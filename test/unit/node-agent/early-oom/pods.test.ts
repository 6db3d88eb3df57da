/** When the API is asked about pods, and what is known while it doesn't answer. */
import { beforeEach, describe, expect, test } from "vitest";
import type { PodsAnswer } from "../../../../node-agent/early-oom/observe/list-pods.ts";
import { Pods } from "../../../../node-agent/early-oom/pods.ts";
import type { CgroupScan } from "../../../../node-agent/early-oom/words.ts";
import { aContainer, factsByPod, factsOf } from "./fixtures/memory.ts";

const known = aContainer();
const unknown = aContainer({ podUid: "55555555-5555-4555-8555-555555555555" });
const listed: PodsAnswer = { kind: "listed", facts: factsByPod(factsOf(known)) };
const away: PodsAnswer = { kind: "unknown", because: "connect ECONNREFUSED" };
const scanOf = (...containers: CgroupScan["containers"]): CgroupScan => ({ atMs: 0, containers, pods: [] });

let nowMs: number;
let askedAtSecond: number[];
let answers: PodsAnswer[];
let next: PodsAnswer;
let pods: Pods;

beforeEach(() => {
  nowMs = 0;
  askedAtSecond = [];
  answers = [];
  next = listed;
  pods = new Pods({
    list: async () => {
      askedAtSecond.push(nowMs / 1_000);
      return next;
    },
    everyMs: 60_000,
    now: () => nowMs,
    onAnswer: (answer) => answers.push(answer),
  });
});

/** A turn each second, and the scan that was seen before it. */
async function pass(seconds: number, scan = scanOf()): Promise<void> {
  for (let second = 0; second < seconds; second += 1) {
    pods.saw(scan);
    await pods.turn();
    nowMs += 1_000;
  }
}

describe("the pods of the node", () => {
  test("are listed at the start and every minute", async () => {
    await pass(130, scanOf(known));
    expect(askedAtSecond).toEqual([0, 60, 120]);
    expect(pods.ageMs).toBe(10_000);
  });

  test("are listed 5 s later at the latest where a container's pod isn't known, and not more often", async () => {
    await pass(10, scanOf(known));
    await pass(1, scanOf(known, unknown));
    expect(askedAtSecond).toEqual([0, 10]);
    await pass(19, scanOf(known, unknown));
    expect(askedAtSecond).toEqual([0, 10, 15, 20, 25]);
  });

  test("are not listed for a static pod, whose cgroup says what it is", async () => {
    await pass(30, scanOf(aContainer({ podUid: "0".repeat(32), isStatic: true })));
    expect(askedAtSecond).toEqual([0]);
  });

  test("stay known while the API is away, which is asked less and less often, but every minute", async () => {
    await pass(1);
    next = away;
    await pass(600, scanOf(unknown));
    expect(pods.facts).toBe(listed.kind === "listed" ? listed.facts : undefined);
    expect(askedAtSecond.slice(1, 6)).toEqual([5, 10, 20, 40, 80]);
    expect(askedAtSecond.length).toBeLessThan(18);
    expect(answers.at(-1)).toBe(away);
    next = listed;
    await pass(61);
    expect(answers.at(-1)).toBe(listed);
  });

  test("have no age before the first list", async () => {
    next = away;
    await pass(3);
    expect(pods.ageMs).toBeUndefined();
    expect(pods.facts.size).toBe(0);
  });
});

test("an answer that takes long is not asked for twice", async () => {
  const slow = Promise.withResolvers<PodsAnswer>();
  let asked = 0;
  const waiting = new Pods({
    list: () => {
      asked += 1;
      return slow.promise;
    },
    everyMs: 60_000,
    now: () => nowMs,
    onAnswer: () => undefined,
  });
  const first = waiting.turn();
  nowMs = 20_000;
  await waiting.turn();
  expect(asked).toBe(1);
  slow.resolve(listed);
  await first;
  expect(waiting.facts.size).toBe(1);
});
