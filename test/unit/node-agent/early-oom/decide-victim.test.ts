/** Who gives way, as a table, and who never does. */
import { describe, expect, it } from "vitest";
import { decideVictim, type VictimQuestion } from "../../../../node-agent/early-oom/decide/victim.ts";
import type { ContainerMemory, PodFacts } from "../../../../node-agent/early-oom/words.ts";
import { aContainer, type FactsChanges, factsByPod, factsOf, GIB, GIB_IN_KIB, MIB } from "./fixtures/memory.ts";

const ownPodUid = "00000000-0000-4000-8000-000000000000";

interface Inhabitant {
  readonly container: ContainerMemory;
  readonly pod: PodFacts | undefined;
}

/** A container of the pod `n`, and what is known of it. */
function one(n: number, container: Partial<ContainerMemory> = {}, facts: FactsChanges = {}): Inhabitant {
  const lived = aContainer({
    podUid: `${n}1111111-1111-4111-8111-111111111111`,
    containerId: `${n}`.repeat(64),
    birth: n,
    ...container,
  });
  return { container: lived, pod: factsOf(lived, { name: `pod-${n}`, ...facts }) };
}

function choose(inhabitants: readonly Inhabitant[], changes: Partial<VictimQuestion> = {}): string {
  const choice = decideVictim({
    rule: "A",
    totalKib: 8 * GIB_IN_KIB,
    containers: inhabitants.map(({ container }) => container),
    facts: factsByPod(...inhabitants.flatMap(({ pod }) => pod ?? [])),
    ownPodUid,
    strikes: [],
    ...changes,
  });
  return choice.kind === "victim" ? choice.victim.pod.name : `nobody: ${choice.because}`;
}

describe("who goes first", () => {
  it.each([
    {
      why: "who uses more than requested before who doesn't, at whatever priority and growth",
      inhabitants: [
        one(1, { growthBytes: 2 * GIB }, { priority: -5, requestBytes: 2 * GIB }),
        one(2, {}, { priority: 9, requestBytes: GIB - 1 }),
      ],
      victim: "pod-2",
    },
    {
      why: "the lower priority, though the other one is further above its request",
      inhabitants: [one(1, { workingSetBytes: 3 * GIB }, { priority: 1 }), one(2, {}, { priority: 0 })],
      victim: "pod-2",
    },
    {
      why: "at the same priority who is further above its request, not who is larger",
      inhabitants: [
        one(1, { workingSetBytes: 3 * GIB }, { requestBytes: 2 * GIB }),
        one(2, { workingSetBytes: 2 * GIB }, { requestBytes: GIB / 2 }),
      ],
      victim: "pod-2",
    },
    { why: "else the youngest", inhabitants: [one(2), one(3), one(1)], victim: "pod-3" },
    {
      why: "page cache that nobody uses doesn't count",
      inhabitants: [
        one(1, { currentBytes: 6 * GIB, inactiveFileBytes: 5 * GIB, workingSetBytes: GIB }),
        one(2, { workingSetBytes: 2 * GIB }),
      ],
      victim: "pod-2",
    },
  ])("$why", ({ inhabitants, victim }) => {
    expect(choose(inhabitants)).toBe(victim);
    expect(choose(inhabitants.toReversed())).toBe(victim);
  });
});

describe("who keeps to its request", () => {
  const leaker = one(1, { growthBytes: 300 * MIB, qos: "guaranteed" }, { requestBytes: 4 * GIB, priority: 1000 });
  const quiet = one(2, { workingSetBytes: 3 * GIB, growthBytes: MIB }, { requestBytes: 4 * GIB });

  it("is struck by rule A where its own growth is the largest, before the kernel takes system services", () => {
    expect(choose([leaker, quiet])).toBe("pod-1");
  });

  it.each(["B", "C"] as const)("isn't struck by rule %s", (rule) => {
    expect(choose([leaker, quiet], { rule })).toMatch(/^nobody: every container .* within its request/);
  });

  it("isn't struck where somebody else grew more, were it a protected one", () => {
    const static_ = one(3, { growthBytes: 400 * MIB, podUid: "ab".repeat(16), isStatic: true });
    expect(choose([leaker, quiet, static_])).toMatch(/^nobody/);
  });

  it("isn't struck for the breathing of a steady node", () => {
    const breathing = one(1, { growthBytes: 10 * MIB }, { requestBytes: 4 * GIB });
    expect(choose([breathing, quiet])).toMatch(/^nobody/);
  });
});

describe("never struck", () => {
  const large = { workingSetBytes: 5 * GIB, growthBytes: 2 * GIB };

  it.each([
    { why: "a static pod by its cgroup", inhabitant: one(1, { ...large, podUid: "ab".repeat(16), isStatic: true }) },
    { why: "a static pod by the API's word", inhabitant: one(1, large, { isStatic: true }) },
    {
      why: "a pod of class system-node-critical",
      inhabitant: one(1, large, { priorityClassName: "system-node-critical" }),
    },
    {
      why: "a pod of class system-cluster-critical",
      inhabitant: one(1, large, { priorityClassName: "system-cluster-critical" }),
    },
    { why: "a pod with the system's priority", inhabitant: one(1, large, { priority: 2_000_000_000 }) },
    { why: "less than 5 % of the node's memory", inhabitant: one(1, { workingSetBytes: 0.05 * 8 * GIB - 1 }) },
  ])("$why", ({ inhabitant }) => {
    expect(choose([inhabitant])).toMatch(/^nobody/);
    expect(choose([inhabitant, one(2)])).toBe("pod-2");
  });

  it("case 57: where only our own pod is large, nobody is chosen, and never itself", () => {
    const own = one(1, { ...large, podUid: ownPodUid });
    expect(choose([own, one(2, { workingSetBytes: MIB })])).toMatch(/^nobody/);
  });

  it("who was struck already and is still there", () => {
    const stuck = one(1, large);
    const strikes = [{ atMs: 0, cgroup: stuck.container.cgroup, gone: false }];
    expect(choose([stuck, one(2)], { strikes })).toBe("pod-2");
    expect(choose([stuck], { strikes })).toMatch(/^nobody/);
  });

  it("at exactly 5 % and with a priority just below the system's, it is", () => {
    expect(choose([one(1, { workingSetBytes: 0.05 * 8 * GIB }, { priority: 1_999_999_999 })])).toBe("pod-1");
  });
});

describe("a pod that the API wasn't asked about yet", () => {
  const unknown = (growthBytes: number): Inhabitant => ({ ...one(1, { growthBytes }), pod: undefined });

  it("is never guessed to be unimportant", () => {
    expect(choose([unknown(0)])).toMatch(/^nobody/);
    expect(choose([unknown(0), one(2)])).toBe("pod-2");
  });

  it("isn't spared at the cost of others where it is the one that leaks: the kernel chooses", () => {
    expect(choose([unknown(GIB), one(2)])).toMatch(/^nobody: the container that grows most .* wasn't asked about/);
  });

  it("a container that is younger than the list is held to its pod's largest request", () => {
    const restarted = one(1, { workingSetBytes: 2 * GIB }, { containers: new Map(), largestRequestBytes: 2 * GIB });
    expect(choose([restarted])).toMatch(/^nobody/);
    expect(
      choose([one(1, { workingSetBytes: 3 * GIB }, { containers: new Map(), largestRequestBytes: 2 * GIB })]),
    ).toBe("pod-1");
  });
});

it("the victim is told with its container, what it requested and why", () => {
  const { container, pod } = one(1, { workingSetBytes: 3 * GIB }, { requestBytes: GIB, priority: 7 });
  const facts = factsByPod(...(pod ? [pod] : []));
  const question = {
    rule: "A",
    totalKib: 8 * GIB_IN_KIB,
    containers: [container],
    facts,
    ownPodUid,
    strikes: [],
  } as const;
  expect(decideVictim(question)).toEqual({
    kind: "victim",
    victim: {
      container,
      pod,
      containerName: "app",
      requestBytes: GIB,
      because: "it uses 2048 MiB more than it requested, at priority 7",
    },
  });
});
