/** The Events of a strike: on whom, with what, and under which name. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { eventsOf } from "../../../../node-agent/early-oom/act/events.ts";
import { describeStrike } from "../../../../node-agent/early-oom/report.ts";
import { aContainer, factsOf } from "./fixtures/memory.ts";
import { aContainerTook, aKernelTook, aReport, aVictim } from "./fixtures/reports.ts";

const NAME = /^[a-z0-9]([-.a-z0-9]*[a-z0-9])?$/;
const kill = { podUid: aContainer().podUid, containerId: aContainer().containerId, cgroup: "", processes: 2 };

test("a killed container is told on its pod and on the node, with everything that led to it", () => {
  const [pod, node, ...more] = eventsOf(aReport());
  expect(more).toEqual([]);
  expect(pod).toMatchObject({
    metadata: { namespace: "shop", name: expect.stringMatching(/^web-0\.[0-9a-f]{16}$/) },
    involvedObject: { kind: "Pod", namespace: "shop", name: "web-0", fieldPath: "spec.containers{app}" },
    type: "Warning",
    reason: "EarlyOomKilled",
    eventTime: "2026-03-01T10:00:00.123000Z",
    reportingInstance: "node-1",
  });
  expect(node).toMatchObject({
    metadata: { namespace: "default", name: expect.stringMatching(/^node-1\./) },
    involvedObject: { kind: "Node", name: "node-1", uid: "node-1" },
    reason: "EarlyOomKilled",
    message: pod?.message,
  });
  expect(pod?.message).toBe(
    "Killed container app of pod shop/web-0 as a whole (7 java); working set 3072 MiB, requested 512 MiB: " +
      "it uses 2560 MiB more than it requested, at priority 0. Rule A: 150 MiB available, below 205 MiB; " +
      "available 150 -> 3000 MiB of 4096 MiB, every task waited 0 % of the last 10 s",
  );
});

describe("what became of it is the reason", () => {
  test.each([
    ["EarlyOomKilled", aContainerTook()],
    ["EarlyOomKillUnfinished", aContainerTook({ ended: false })],
    ["EarlyOomAskedKernel", aKernelTook([{ kill, pod: factsOf(aContainer()) }])],
    ["EarlyOomAskedKernel", aKernelTook([], 1)],
    ["EarlyOomFailed", aKernelTook([])],
    ["EarlyOomFailed", { kind: "nothing", because: "no sysrq" } as const],
  ])("%s", (reason, took) => {
    const events = eventsOf(aReport({ took }));
    expect(events.map((event) => event.reason)).toEqual(events.map(() => reason));
    expect(events.at(-1)?.involvedObject.kind).toBe("Node");
  });
});

test("whom the kernel took is told on each pod that is known, and on the node for all", () => {
  const known = factsOf(aContainer(), { name: "known" });
  const unknown = { ...kill, podUid: "77777777-7777-4777-8777-777777777777", containerId: undefined, processes: 1 };
  const took = aKernelTook([
    { kill, pod: known },
    { kill: unknown, pod: undefined },
  ]);
  const events = eventsOf(aReport({ took }));
  expect(events.map(({ involvedObject }) => involvedObject.name)).toEqual(["known", "node-1"]);
  expect(events[1]?.message).toContain(
    "of processes it took 2 of container app of pod default/known, 1 of the pod with UID 77777777-7777-4777-8777-777777777777",
  );
});

test("the same strike told twice has the same name, another one another", () => {
  const names = (at: string) => eventsOf(aReport({ at: new Date(at) })).map(({ metadata }) => metadata.name);
  expect(names("2026-03-01T10:00:00.123Z")).toEqual(names("2026-03-01T10:00:00.123Z"));
  expect(new Set([...names("2026-03-01T10:00:00.123Z"), ...names("2026-03-01T10:00:15.200Z")]).size).toBe(4);
});

test("a failure that repeats every 15 s is one Event an hour", () => {
  const took = { kind: "nothing", because: "no sysrq" } as const;
  const name = (at: string) => eventsOf(aReport({ took, at: new Date(at) }))[0]?.metadata.name;
  expect(name("2026-03-01T10:00:00Z")).toBe(name("2026-03-01T10:59:45Z"));
  expect(name("2026-03-01T10:00:00Z")).not.toBe(name("2026-03-01T11:00:00Z"));
});

test("whatever pod and reason are called, the API server takes name and message", () => {
  const podName = fc.stringMatching(/^[a-z0-9]([-a-z0-9.]{0,250}[a-z0-9])?$/);
  fc.assert(
    fc.property(podName, fc.string({ unit: "grapheme", maxLength: 3_000 }), (name, because) => {
      const pod = factsOf(aContainer(), { name });
      const report = aReport({ because, took: aContainerTook({ victim: aVictim({ pod }) }) });
      for (const { metadata, message } of eventsOf(report)) {
        expect(metadata.name).toMatch(NAME);
        expect(metadata.name.length).toBeLessThanOrEqual(253);
        expect(Buffer.byteLength(message)).toBeLessThanOrEqual(1_024);
        expect(describeStrike(report).startsWith(message)).toBe(true);
      }
    }),
  );
});
