/** What early-oom does on a node that runs out of memory, turn by turn. */
import { truncateSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { describeStrike } from "../../../../node-agent/early-oom/report.ts";
import type { PodFacts } from "../../../../node-agent/early-oom/words.ts";
import { aContainer, type FactsChanges, factsOf, MIB } from "./fixtures/memory.ts";
import { breakSysrq, FakeNode, idOf } from "./fixtures/node.ts";
import { OWN_POD, STORY_START, Story } from "./fixtures/story.ts";
import { aFolder } from "./fixtures/trees.ts";

const LEAKER = { podUid: "11111111-1111-4111-8111-111111111111", id: idOf("a"), currentMib: 1500 };
const OTHER = { podUid: "22222222-2222-4222-8222-222222222222", id: idOf("b"), currentMib: 800 };
const TINY = { podUid: "33333333-3333-4333-8333-333333333333", id: idOf("c"), currentMib: 50 };

function factsFor({ podUid, id }: { podUid: string; id: string }, changes: FactsChanges = {}): PodFacts {
  return factsOf(aContainer({ podUid, containerId: id }), { requestBytes: 256 * MIB, ...changes });
}
const FACTS = [factsFor(LEAKER), factsFor(OTHER, { priority: 1000 }), factsFor(TINY)];

describe("a pod that leaks", () => {
  test("case 55: is killed by rule A while memory is left, before the kernel's killer comes", () => {
    const story = new Story({ facts: FACTS });
    const leaker = story.node.add(LEAKER);
    const other = story.node.add(OTHER);
    let availableMib = 0;
    story.run(10_000, (atMs) => {
      if (story.node.isStruck(leaker)) return;
      availableMib = 500 - atMs / 20;
      story.node.available(availableMib);
      story.node.grow(leaker, 1500 + atMs / 20);
    });
    expect(availableMib).toBeGreaterThan(150);
    expect([leaker, other].map((cgroup) => story.node.isStruck(cgroup))).toEqual([true, false]);
    expect(story.node.sysrq).toBe("");
    expect(story.lines).toContainEqual(
      expect.objectContaining({ message: "memory is short", facts: expect.objectContaining({ rule: "A" }) }),
    );
  });

  test("case 53: is killed as a whole, children included, and named with what ran in it", () => {
    const story = new Story({ facts: FACTS });
    const leaker = story.node.add({ ...LEAKER, processes: { "100": "sh", "101": "java", "102": "worker" } });
    story.leak(leaker, 6_500);
    story.node.end(leaker);
    story.node.available(1900);
    story.run(2_000);
    const [report] = story.reports;
    expect(report?.took).toMatchObject({ kind: "container", ended: true, victim: { containerName: "app" } });
    const text = report ? describeStrike(report) : "";
    expect(text).toContain("Killed container app of pod default/pod-1111 as a whole (100 sh, 101 java, 102 worker)");
    expect(text).toMatch(/requested 256 MiB/);
    expect(text).toMatch(/Rule A: .*; available 1\d\d -> 1900 MiB of 4096 MiB, every task waited 0 % of the last 10 s/);
    expect(story.journal.figures).toMatchObject({ kills: { userspace: 1, kernel: 0 }, failedStrikes: 0 });
  });

  test("case 52: is killed on a node without memory pressure too", () => {
    const node = new FakeNode(aFolder()).withoutPressure();
    const story = new Story({ facts: FACTS, node });
    const leaker = node.add(LEAKER);
    story.leak(leaker);
    expect(node.isStruck(leaker)).toBe(true);
    expect(story.journal.figures.sample?.pressure).toMatchObject({ kind: "unavailable", why: "absent" });
  });

  test("that ends by itself before the kill costs nobody else anything", () => {
    const story = new Story({ facts: FACTS });
    const leaker = story.node.add(LEAKER);
    let removed = false;
    story.afterScan = () => {
      if (removed || story.journal.figures.shortage.kind === "fine") return;
      removed = true;
      story.node.remove(leaker);
    };
    story.run(7_000, (atMs) => story.node.available(removed ? 1900 : 500 - atMs / 20));
    expect(removed).toBe(true);
    expect(story.journal.figures.kills).toEqual({ userspace: 0, kernel: 0, "dry-run": 0 });
    expect(story.node.sysrq).toBe("");
  });

  test("is left alone if memory came back between the choice and the strike", () => {
    const story = new Story({ facts: FACTS });
    const leaker = story.node.add(LEAKER);
    let isShort = false;
    story.afterScan = () => {
      isShort ||= story.journal.figures.shortage.kind === "short";
      if (isShort) story.node.available(1900);
    };
    story.run(8_000, (atMs) => {
      if (!isShort) story.node.available(500 - atMs / 20);
    });
    expect(isShort).toBe(true);
    expect(story.node.isStruck(leaker)).toBe(false);
    const said = story.lines.filter(({ message }) => message === "nobody was struck");
    expect(said.map(({ facts }) => facts.because)).toEqual([expect.stringContaining("memory recovered")]);
  });
});

test("what an ended container left behind is passed over: the one that leaks is killed", () => {
  const story = new Story({ facts: FACTS });
  const ended = story.node.add({ ...LEAKER, processes: {} });
  story.node.end(ended);
  story.node.grow(ended, 1500);
  const leaker = story.node.add(OTHER);
  story.leak(leaker, 6_500, { availableMib: 500, currentMib: 800 });
  expect([ended, leaker].map((cgroup) => story.node.isStruck(cgroup))).toEqual([false, true]);
});

describe("after a strike", () => {
  test("case 56: the next one waits for the exit, and looks at memory again", () => {
    const story = new Story({ facts: FACTS });
    const leaker = story.node.add(LEAKER);
    const other = story.node.add(OTHER);
    story.leak(leaker, 6_500);
    const struckAtMs = lastStrikeMs(story);
    // Memory is still short and tasks wait, but the first one hasn't gone yet.
    story.run(struckAtMs + 1_900 - story.nowMs, thrash(story));
    expect(story.node.isStruck(other)).toBe(false);
    story.node.end(leaker);
    story.node.available(1900);
    story.run(60_000);
    expect(story.node.isStruck(other)).toBe(false);
    expect(story.journal.figures.kills.userspace).toBe(1);
  });

  test("nobody else is killed for 15 s, though memory stays short", () => {
    const story = new Story({ facts: FACTS });
    const leaker = story.node.add(LEAKER);
    const other = story.node.add(OTHER);
    story.leak(leaker, 6_500);
    story.node.end(leaker);
    const struckAtMs = lastStrikeMs(story);
    story.run(struckAtMs + 14_900 - story.nowMs, thrash(story));
    expect(story.node.isStruck(other)).toBe(false);
    story.run(1_000, thrash(story));
    expect(story.node.isStruck(other)).toBe(true);
  });

  test("a container that doesn't go within 2 s is reported, and the next one is killed, then the kernel is asked", () => {
    const story = new Story({ facts: FACTS });
    const leaker = story.node.add(LEAKER);
    const other = story.node.add(OTHER);
    story.node.add(TINY);
    story.leak(leaker, 6_500);
    story.run(6_000, thrash(story));
    expect(story.node.isStruck(other)).toBe(true);
    expect(story.reports.map(({ took }) => took.kind === "container" && took.ended)).toEqual([false, false, false]);
    const [first, second, third] = story.reports.map(({ at }) => at.getTime());
    expect([Number(second) - Number(first), Number(third) - Number(first)]).toEqual([2_000, 4_000]);
    expect(story.node.sysrq).toBe("f");
    expect(story.journal.figures).toMatchObject({ kills: { userspace: 2, kernel: 1 }, failedStrikes: 3 });
  });

  test("the end of the shortage is said once, after 5 s without", () => {
    const story = new Story({ facts: FACTS });
    const leaker = story.node.add(LEAKER);
    story.leak(leaker, 6_500);
    story.node.end(leaker);
    story.node.available(1900);
    story.run(60_000);
    expect(story.messages()).toEqual(["memory is short", "strike", "strike took effect", "memory is no longer short"]);
  });
});

describe("a strike that can't be carried out", () => {
  test("leads to the next container at once, and then to the kernel", () => {
    const story = new Story({ facts: FACTS });
    const leaker = story.node.add(LEAKER);
    const other = story.node.add(OTHER);
    for (const cgroup of [leaker, other]) story.node.withoutKillFile(cgroup);
    story.run(7_000, (atMs) => story.node.available(500 - atMs / 20));
    expect(story.node.sysrq).toBe("f");
    expect(story.messages("error").slice(0, 2)).toEqual(["strike failed", "strike failed"]);
    expect(story.journal.figures.kills).toEqual({ userspace: 0, kernel: 1, "dry-run": 0 });
    expect(story.nowMs).toBeLessThan(lastStrikeMs(story) + 2_000);
  });

  test("of the last resort too is shouted, told on the node, and tried again", () => {
    const story = new Story({ facts: [], mode: "kernel" });
    breakSysrq(story.node.places);
    story.run(40_000, thrash(story));
    expect(story.messages("error").length).toBeGreaterThan(1);
    expect(story.reports.map(({ took }) => took.kind)).toContain("nothing");
    expect(story.journal.figures).toMatchObject({ kills: { userspace: 0, kernel: 0 } });
    expect(story.journal.figures.failedStrikes).toBe(story.reports.length);
  });
});

describe("mode kernel", () => {
  test("asks the kernel, kills nothing itself, and tells whom the kernel took", () => {
    const story = new Story({ facts: FACTS, mode: "kernel" });
    const leaker = story.node.add(LEAKER);
    const other = story.node.add(OTHER);
    let isTaken = false;
    story.run(9_000, (atMs) => {
      if (story.node.sysrq === "f" && !isTaken) {
        isTaken = true;
        story.node.kernelKills(other);
      }
      story.node.available(isTaken ? 1900 : 500 - atMs / 20);
    });
    expect([leaker, other].map((cgroup) => story.node.isStruck(cgroup))).toEqual([false, false]);
    expect(story.reports).toHaveLength(1);
    expect(story.reports[0]?.took).toMatchObject({
      kind: "kernel",
      killed: [{ kill: { podUid: OTHER.podUid, containerId: OTHER.id, processes: 1 }, pod: { name: "pod-2222" } }],
    });
    expect(story.journal.figures).toMatchObject({ kills: { userspace: 0, kernel: 1 }, failedStrikes: 0 });
  });

  test("tells what the kernel took outside of pods too, such as a system service", () => {
    const story = new Story({ facts: FACTS, mode: "kernel" });
    story.node.add(LEAKER);
    story.node.nodeOomKills(3);
    story.run(9_000, (atMs) => {
      if (story.node.sysrq === "f") story.node.nodeOomKills(4);
      story.node.available(500 - atMs / 20);
    });
    expect(story.reports[0]?.took).toMatchObject({ kind: "kernel", processes: 1, killed: [] });
    expect(story.journal.figures.lastStrike).toContain("it took 1 in no pod that is seen");
    expect(story.messages("error")).toEqual([]);
  });

  test("shouts where nobody was seen to die", () => {
    const story = new Story({ facts: FACTS, mode: "kernel" });
    story.node.add(LEAKER);
    story.run(9_000, (atMs) => story.node.available(500 - atMs / 20));
    expect(story.messages("error")).toEqual(["strike had no effect"]);
    expect(story.journal.figures.lastStrike).toContain("nobody was seen to die");
  });
});

test("a dry run says what would be killed and why, counts it, and touches nothing", () => {
  const story = new Story({ facts: FACTS, dryRun: true });
  const leaker = story.node.add(LEAKER);
  story.leak(leaker, 5_500);
  story.node.available(170);
  const before = story.node.snapshot();
  story.run(1_000);
  expect(story.messages()).toContain("memory is short");
  const left = story.lines.filter(({ message }) => message === "strike left out in dry run");
  expect(left.map(({ facts }) => facts)).toEqual([
    expect.objectContaining({ mode: "dry-run", pod: "default/pod-1111", container: "app", rule: "A" }),
  ]);
  expect(story.node.snapshot()).toEqual(before);
  expect(story.reports).toEqual([]);
  expect(story.journal.figures.kills).toEqual({ userspace: 0, kernel: 0, "dry-run": 1 });
});

test("a dry run that would ask the kernel doesn't", () => {
  const story = new Story({ facts: FACTS, dryRun: true, mode: "kernel" });
  story.run(8_000, (atMs) => story.node.available(500 - atMs / 20));
  expect(story.node.sysrq).toBe("");
  expect(story.journal.figures.kills["dry-run"]).toBe(1);
});

test("case 57: where only our own pod is large, it is not killed: the kernel is asked", () => {
  const own = { podUid: OWN_POD, id: idOf("9"), currentMib: 3000 };
  const story = new Story({ facts: [factsFor(own)] });
  const cgroup = story.node.add(own);
  story.run(8_000, (atMs) => {
    story.node.available(500 - atMs / 20);
    story.node.grow(cgroup, 3000 + atMs / 20);
  });
  expect(story.node.isStruck(cgroup)).toBe(false);
  expect(story.node.sysrq).toBe("f");
});

test("a container that the kernel killed by itself is told with its pod's name", () => {
  const story = new Story({ facts: FACTS });
  const cgroup = story.node.add(OTHER);
  story.run(2_000);
  story.node.kernelKills(cgroup);
  story.run(40_000);
  expect(story.lines).toEqual([
    {
      level: "warn",
      message: "the kernel killed processes of a container",
      facts: { pod: "default/pod-2222", podUid: OTHER.podUid, containerId: OTHER.id, processes: 1 },
    },
  ]);
  expect(story.journal.figures.kernelKills).toBe(1);
});

test("on a node that is well nothing is logged, memory is looked at every second, containers every 30 s", () => {
  const story = new Story({ facts: FACTS });
  story.node.add(OTHER);
  let looks = 0;
  story.node.available(3900);
  story.run(120_000, () => {
    looks += 1;
  });
  expect(story.lines).toEqual([]);
  expect(looks).toBeGreaterThan(115);
  expect(looks).toBeLessThan(200);
  expect(story.scans).toHaveLength(4);
});

test("where the containers can't be read, the kernel is asked, and that is said once", () => {
  const story = new Story({ facts: FACTS });
  story.node.add(LEAKER);
  story.afterScan = () => {
    throw new Error("EIO");
  };
  story.run(9_000, (atMs) => {
    if (story.node.sysrq === "f") story.node.nodeOomKills(1);
    else story.node.nodeOomKills(0);
    story.node.available(500 - atMs / 20);
  });
  expect(story.node.sysrq).toBe("f");
  expect(story.reports[0]?.took).toMatchObject({ kind: "kernel", processes: 1, killed: [] });
  const said = story.lines.filter(({ message }) => message === "problem found");
  expect(said.map(({ facts }) => facts.problem)).toEqual(["the containers can't be read: EIO"]);
});

test("memory that can't be read for once ends the turn, not the watch", () => {
  const story = new Story({ facts: FACTS });
  const leaker = story.node.add(LEAKER);
  const meminfo = join(story.node.places.proc, "meminfo");
  truncateSync(meminfo);
  expect(() => story.run(1_000)).toThrow("no MemTotal");
  story.leak(leaker);
  expect(story.node.isStruck(leaker)).toBe(true);
});

/** Little memory is left and tasks wait: rule A goes on. */
function thrash(story: Story): () => void {
  return () => {
    story.node.available(100);
    story.node.waiting(story.nowMs * 500);
  };
}

function lastStrikeMs({ journal }: Story): number {
  const { lastKillAt } = journal.figures;
  if (lastKillAt === undefined) throw new Error("looking for the last strike: there was none");
  return lastKillAt.getTime() - STORY_START;
}
