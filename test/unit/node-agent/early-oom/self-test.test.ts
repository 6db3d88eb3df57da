/** What the agent finds out about its node before the worst minute comes. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { Containers } from "../../../../node-agent/early-oom/containers.ts";
import { readSettings, type Settings } from "../../../../node-agent/early-oom/env.ts";
import { openMemoryProbe } from "../../../../node-agent/early-oom/observe/memory.ts";
import { testSelf } from "../../../../node-agent/early-oom/self-test.ts";
import { FakeNode, idOf, KUBEPODS } from "./fixtures/node.ts";
import { OWN_POD } from "./fixtures/story.ts";
import { aFolder, HYBRID_ROOT, writeFiles } from "./fixtures/trees.ts";

function aNode(): FakeNode {
  const node = new FakeNode(aFolder());
  node.add({ podUid: OWN_POD, id: idOf("9") });
  return node;
}

function settingsFor(node: FakeNode, env: Readonly<Record<string, string>> = {}): Settings {
  const { proc, cgroup, sysrqTrigger, spool } = node.places;
  const places = {
    EARLY_OOM_PROC: proc,
    EARLY_OOM_CGROUP: cgroup,
    EARLY_OOM_SYSRQ_TRIGGER: sysrqTrigger,
    EARLY_OOM_SPOOL: spool,
  };
  return readSettings({ ...places, NODE_NAME: "node-1", POD_UID: OWN_POD, ...env }, false);
}

function testOn(node: FakeNode, env: Readonly<Record<string, string>> = {}) {
  const settings = settingsFor(node, env);
  const probe = openMemoryProbe(settings.paths.proc, () => 0);
  const { layout, scan } = new Containers(settings.paths.cgroup, () => 0);
  try {
    return testSelf({ look: () => probe.look(), layout, scan }, settings);
  } finally {
    probe.close();
  }
}

test("a node that has everything has no problem, and nothing on it is touched", () => {
  const node = aNode();
  const before = node.snapshot();
  expect(testOn(node)).toEqual({ mode: "cgroup", problems: [] });
  expect(node.snapshot()).toEqual(before);
});

test("case 52: where pressure is absent it is said that only rule A works, and the agent goes on", () => {
  const { mode, problems } = testOn(aNode().withoutPressure());
  expect(mode).toBe("cgroup");
  expect(problems).toEqual([expect.stringMatching(/^no memory pressure, so only rule A works: /)]);
});

describe("the kernel is left to choose", () => {
  test("on a node with cgroup v1", () => {
    const node = aNode();
    rmSync(node.places.cgroup, { recursive: true });
    writeFiles(node.places.cgroup, HYBRID_ROOT);
    const { mode, problems } = testOn(node);
    expect(mode).toBe("kernel");
    expect(problems).toEqual([expect.stringMatching(/^no container can be ended as a whole.*no cgroup v2/)]);
  });

  test("on a kernel before 5.14, which has no cgroup.kill", () => {
    const node = aNode();
    node.withoutKillFile(KUBEPODS);
    const { mode, problems } = testOn(node);
    expect(mode).toBe("kernel");
    expect(problems).toEqual([expect.stringMatching(/cgroup\.kill/)]);
  });

  test("where it was asked for, without a word about what isn't needed", () => {
    const node = aNode();
    node.withoutKillFile(KUBEPODS);
    expect(testOn(node, { EARLY_OOM_MODE: "kernel" })).toEqual({ mode: "kernel", problems: [] });
  });
});

describe("a problem is", () => {
  test("that the last resort is missing", () => {
    const node = aNode();
    rmSync(node.places.sysrqTrigger);
    expect(testOn(node)).toEqual({
      mode: "cgroup",
      problems: [expect.stringMatching(/^the kernel's killer can't be asked: ENOENT/)],
    });
  });

  test("that Events can't be kept", () => {
    const node = aNode();
    rmSync(node.places.spool, { recursive: true });
    writeFileSync(node.places.spool, "a file");
    expect(testOn(node).problems).toEqual([expect.stringMatching(/^Events can't be kept: /)]);
  });

  test("that our own pod isn't seen, since then nothing else may be seen rightly", () => {
    const node = new FakeNode(aFolder());
    node.add({ podUid: "11111111-1111-4111-8111-111111111111", id: idOf("a") });
    expect(testOn(node).problems).toEqual([expect.stringContaining(`our own pod ${OWN_POD} isn't among 1 containers`)]);
  });

  test("that no rule is on", () => {
    const off = { EARLY_OOM_RULE_A: "false", EARLY_OOM_RULE_B: "false", EARLY_OOM_RULE_C: "false" };
    expect(testOn(aNode(), off).problems).toEqual(["no rule is on: nothing is ever struck"]);
  });
});

test("the spool's folder is made, but not by a dry run", () => {
  const node = aNode();
  rmSync(node.places.spool, { recursive: true });
  const before = node.snapshot();
  expect(testOn(node, { EARLY_OOM_DRY_RUN: "true" }).problems).toEqual([]);
  expect(() => mkdirSync(node.places.spool)).not.toThrow();
  rmSync(node.places.spool, { recursive: true });
  expect(testOn(node).problems).toEqual([]);
  expect(() => mkdirSync(node.places.spool)).toThrow("EEXIST");
  expect(node.snapshot()).toEqual(before);
});

test("containers are found where the kubelet makes their cgroup only later", () => {
  const node = aNode();
  const kubepods = join(node.places.cgroup, KUBEPODS);
  rmSync(kubepods, { recursive: true });
  const containers = new Containers(node.places.cgroup, () => 0);
  expect(containers.scan()).toBeUndefined();
  node.add({ podUid: OWN_POD, id: idOf("9") });
  writeFiles(node.places.cgroup, { [`${KUBEPODS}/memory.current`]: "1\n" });
  containers.findAgain();
  expect(containers.layout).toEqual({ kind: "found", kubepods: [KUBEPODS] });
  expect(containers.scan()?.containers).toHaveLength(1);
});
