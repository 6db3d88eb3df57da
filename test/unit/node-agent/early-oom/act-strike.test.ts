/** The two ways to strike, on files: what is written, and when nothing is. */
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { askKernel } from "../../../../node-agent/early-oom/act/ask-kernel.ts";
import { endContainer } from "../../../../node-agent/early-oom/act/end-container.ts";
import { createCgroupScanner } from "../../../../node-agent/early-oom/observe/scan-cgroups.ts";
import { breakSysrq, FakeNode, idOf, KUBEPODS } from "./fixtures/node.ts";
import { aFolder, writeFiles } from "./fixtures/trees.ts";

const POD = { podUid: "11111111-1111-4111-8111-111111111111", id: idOf("a") };

function aNode() {
  const node = new FakeNode(aFolder());
  const cgroup = node.add({ ...POD, processes: { "7": "sh", "8": "java" } });
  const { containers } = createCgroupScanner({ root: node.places.cgroup, kubepods: [KUBEPODS], now: () => 0 })();
  const [container] = containers;
  if (container === undefined) throw new Error("scanning the fake node: no container");
  return { node, cgroup, container, path: join(node.places.cgroup, cgroup) };
}

describe("killing a container", () => {
  test("writes 1 to its cgroup.kill, and names what ran in it", () => {
    const { node, cgroup, container } = aNode();
    expect(endContainer(container, node.places, false)).toEqual({
      kind: "struck",
      processes: { count: 2, named: ["7 sh", "8 java"] },
    });
    expect(node.isStruck(cgroup)).toBe(true);
  });

  test("names five processes and counts the rest", () => {
    const { node, container } = aNode();
    node.add({
      ...POD,
      processes: Object.fromEntries(Array.from({ length: 40 }, (_, pid) => [`${pid + 10}`, "worker"])),
    });
    const ended = endContainer(container, node.places, false);
    expect(ended.kind === "struck" && ended.processes.count).toBe(40);
    expect(ended.kind === "struck" && ended.processes.named).toHaveLength(5);
  });

  test("doesn't fail where a process has no name any more", () => {
    const { node, container } = aNode();
    rmSync(join(node.places.proc, "7"), { recursive: true });
    expect(endContainer(container, node.places, false)).toMatchObject({ processes: { named: ["7 ?", "8 java"] } });
  });

  test("finds the processes of a container that sorts them into cgroups of its own, as systemd does", () => {
    const { node, path, container } = aNode();
    writeFileSync(join(path, "cgroup.procs"), "");
    writeFiles(path, { "init.scope/cgroup.procs": "7\n", "system.slice/a.service/cgroup.procs": "8\n" });
    writeFiles(path, { "system.slice/cgroup.procs": "" });
    expect(endContainer(container, node.places, false)).toMatchObject({ processes: { named: ["7 sh", "8 java"] } });
  });

  test("is done though its processes can't be listed", () => {
    const { node, cgroup, container, path } = aNode();
    rmSync(join(path, "cgroup.procs"));
    mkdirSync(join(path, "cgroup.procs"));
    expect(endContainer(container, node.places, false)).toMatchObject({ kind: "struck", processes: { count: 0 } });
    expect(node.isStruck(cgroup)).toBe(true);
  });

  test("writes nothing where no process is left, only page cache", () => {
    const { node, cgroup, container, path } = aNode();
    writeFileSync(join(path, "cgroup.procs"), "");
    writeFileSync(join(path, "cgroup.events"), "populated 0\nfrozen 0\n");
    expect(endContainer(container, node.places, false)).toMatchObject({
      kind: "gone before",
      because: "no process is left in it",
    });
    expect(node.isStruck(cgroup)).toBe(false);
  });

  test("in dry run goes the whole way but the write", () => {
    const { node, container } = aNode();
    const before = node.snapshot();
    expect(endContainer(container, node.places, true).kind).toBe("struck");
    expect(node.snapshot()).toEqual(before);
  });

  test("writes nothing where the cgroup is gone", () => {
    const { node, cgroup, container } = aNode();
    node.remove(cgroup);
    expect(endContainer(container, node.places, false)).toEqual({ kind: "gone before", because: "its cgroup is gone" });
  });

  test("writes nothing where another container has its place", () => {
    const { node, cgroup, container, path } = aNode();
    renameSync(path, `${path}-before`);
    node.add(POD);
    expect(endContainer(container, node.places, false).kind).toBe("gone before");
    expect(node.isStruck(cgroup)).toBe(false);
  });

  test("fails on a kernel before 5.14, which has no cgroup.kill, and makes no such file", () => {
    const { node, cgroup, container, path } = aNode();
    node.withoutKillFile(cgroup);
    expect(endContainer(container, node.places, false)).toMatchObject({
      kind: "failed",
      because: expect.stringMatching(/^killing cgroup .*ENOENT/),
    });
    expect(() => readFileSync(join(path, "cgroup.kill"))).toThrow("ENOENT");
  });

  test("fails where the kernel refuses", () => {
    const { node, cgroup, container, path } = aNode();
    node.withoutKillFile(cgroup);
    mkdirSync(join(path, "cgroup.kill"));
    expect(endContainer(container, node.places, false)).toMatchObject({ kind: "failed" });
  });
});

describe("asking the kernel's killer", () => {
  test("writes f to sysrq-trigger, and nothing in dry run", () => {
    const { node } = aNode();
    expect(askKernel(node.places.sysrqTrigger, true)).toEqual({ kind: "asked" });
    expect(node.sysrq).toBe("");
    expect(askKernel(node.places.sysrqTrigger, false)).toEqual({ kind: "asked" });
    expect(node.sysrq).toBe("f");
  });

  test("fails where there is no sysrq, and makes no such file", () => {
    const { node } = aNode();
    rmSync(node.places.sysrqTrigger);
    expect(askKernel(node.places.sysrqTrigger, false)).toMatchObject({ kind: "failed" });
    expect(() => node.sysrq).toThrow("ENOENT");
  });

  test("fails where the kernel refuses", () => {
    const { node } = aNode();
    breakSysrq(node.places);
    expect(askKernel(node.places.sysrqTrigger, false)).toMatchObject({
      kind: "failed",
      because: expect.stringMatching(/^asking the kernel's killer: /),
    });
  });
});
