/** Which containers early-oom finds, under every name that they go by, and what it reads of each. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { findCgroupLayout } from "../../../../node-agent/early-oom/observe/cgroup-layout.ts";
import { isCgroupGone } from "../../../../node-agent/early-oom/observe/is-gone.ts";
import { createCgroupScanner } from "../../../../node-agent/early-oom/observe/scan-cgroups.ts";
import type { CgroupScan, QosClass } from "../../../../node-agent/early-oom/words.ts";
import { BEST_EFFORT, BURSTABLE, CONTAINER, GUARANTEED, LAYOUTS, type Layout, STATIC } from "./fixtures/layouts.ts";
import { MIB } from "./fixtures/memory.ts";
import { aCgroup, aFolder, type Figures, HYBRID_ROOT, V1_ROOT, V2_ROOT, writeFiles } from "./fixtures/trees.ts";

const PODS: readonly { readonly podUid: string; readonly qos: QosClass }[] = [
  { podUid: GUARANTEED, qos: "guaranteed" },
  { podUid: BURSTABLE, qos: "burstable" },
  { podUid: BEST_EFFORT, qos: "besteffort" },
  { podUid: STATIC, qos: "burstable" },
];

/** A root with each of the pods and one container in each. */
function aNode({ pod, container, others = [], kubepods }: Layout): string {
  const root = aFolder();
  writeFiles(root, { ...V2_ROOT, ...aCgroup(kubepods) });
  for (const { podUid, qos } of PODS) {
    const folder = pod(podUid, qos);
    writeFiles(root, { ...aCgroup(folder), ...aCgroup(`${folder}/${container(CONTAINER)}`, { inactiveFileMib: 30 }) });
    for (const other of others) writeFiles(root, aCgroup(`${folder}/${other}`));
  }
  return root;
}

function scannerOf(root: string, now: () => number = () => 0): () => CgroupScan {
  const layout = findCgroupLayout(root);
  if (layout.kind === "none") throw new Error(layout.because);
  return createCgroupScanner({ root, kubepods: layout.kubepods, now });
}

describe.each(LAYOUTS)("$name", (layout) => {
  it("every container is found once, with its pod and class, and nothing else is taken for one", () => {
    const root = aNode(layout);
    expect(findCgroupLayout(root)).toEqual({ kind: "found", kubepods: [layout.kubepods] });
    const { containers, pods } = scannerOf(root)();
    expect(containers).toHaveLength(PODS.length);
    for (const { podUid, qos } of PODS) {
      const folder = layout.pod(podUid, qos);
      expect(containers).toContainEqual({
        cgroup: `${folder}/${layout.container(CONTAINER)}`,
        podUid,
        qos,
        isStatic: podUid === STATIC,
        containerId: CONTAINER,
        currentBytes: 100 * MIB,
        inactiveFileBytes: 30 * MIB,
        workingSetBytes: 70 * MIB,
        growthBytes: 0,
        birth: expect.any(Number),
        oomKills: 0,
      });
      expect(pods).toContainEqual({ podUid, cgroup: folder, oomKills: 0 });
    }
  });
});

describe("a node without containers to choose from says why, and only the kernel can be asked", () => {
  it.each([
    { why: "version 1", files: V1_ROOT, because: /^no cgroup v2/ },
    { why: "both versions", files: HYBRID_ROOT, because: /^no cgroup v2/ },
    {
      why: "version 2 without the memory controller",
      files: { ...V2_ROOT, "cgroup.controllers": "cpu io pids\n" },
      because: /without the memory controller/,
    },
    { why: "no kubelet", files: V2_ROOT, because: /^no kubepods cgroup/ },
    {
      why: "kubepods without memory figures",
      files: { ...V2_ROOT, "kubepods/cgroup.procs": "" },
      because: /isn't counted/,
    },
  ])("$why", ({ files, because }) => {
    const root = aFolder();
    writeFiles(root, files);
    expect(findCgroupLayout(root)).toEqual({ kind: "none", because: expect.stringMatching(because) });
  });
});

const layout = LAYOUTS[0] ?? expect.fail("no layout");
const pod = layout.pod(BURSTABLE, "burstable");
const container = `${pod}/${layout.container(CONTAINER)}`;

/** A node with one container. */
function withContainer(figures: Figures = {}): string {
  const root = aFolder();
  writeFiles(root, { ...V2_ROOT, ...aCgroup(layout.kubepods), ...aCgroup(pod), ...aCgroup(container, figures) });
  return root;
}

describe("a container", () => {
  it("case 53: its child cgroups are no containers of their own, so that it is killed as a whole", () => {
    const root = withContainer();
    writeFiles(root, { ...aCgroup(`${container}/container`), ...aCgroup(`${container}/${"a".repeat(64)}`) });
    writeFiles(root, aCgroup(`${container}/kubepods.slice/kubepods-pod${STATIC}.slice/${"b".repeat(64)}`));
    expect(scannerOf(root)().containers.map(({ cgroup }) => cgroup)).toEqual([container]);
  });

  it("with more inactive cache than its current use has no working set, rather than less than none", () => {
    expect(scannerOf(withContainer({ currentMib: 10, inactiveFileMib: 30 }))().containers[0]?.workingSetBytes).toBe(0);
  });

  it.each(["memory.current", "memory.stat", "memory.events"])(
    "that vanishes before its %s is read isn't in the scan",
    (file) => {
      const root = withContainer();
      const scan = scannerOf(root);
      rmSync(`${root}/${container}/${file}`);
      expect(scan()).toMatchObject({ containers: [], pods: [{ podUid: BURSTABLE }] });
    },
  );

  it("that vanishes with its pod leaves an empty scan", () => {
    const root = withContainer();
    const scan = scannerOf(root);
    rmSync(`${root}/${pod}`, { recursive: true });
    expect(scan()).toMatchObject({ containers: [], pods: [] });
  });

  it("whose figures can't be read for another reason is an error, not an absence", () => {
    const root = withContainer();
    rmSync(`${root}/${container}/memory.current`);
    mkdirSync(`${root}/${container}/memory.current`);
    expect(scannerOf(root)).toThrow("EISDIR");
  });
});

describe("growth", () => {
  /** A scan at each second given, with the container's use in MiB at that time. */
  function growths(steps: readonly (readonly [atMs: number, currentMib: number])[]): readonly (number | undefined)[] {
    const root = withContainer();
    let atMs = 0;
    const scan = scannerOf(root, () => atMs);
    return steps.map(([at, currentMib]) => {
      atMs = at;
      writeFileSync(`${root}/${container}/memory.current`, `${currentMib * MIB}\n`);
      const growth = scan().containers[0]?.growthBytes;
      return growth === undefined ? undefined : growth / MIB;
    });
  }

  it.each([
    { why: "is unknown on the first scan", steps: [[0, 100]], grown: [0] },
    {
      why: "counts from the scan before",
      steps: [
        [0, 100],
        [2000, 150],
        [4000, 130],
      ],
      grown: [0, 50, -20],
    },
    {
      why: "counts from a scan that is at least a second older, so that a strike's own scan doesn't see chance",
      steps: [
        [0, 100],
        [2000, 150],
        [2100, 160],
        [2200, 170],
        [3000, 180],
      ],
      grown: [0, 50, 60, 70, 30],
    },
    {
      why: "is unknown while the first scan is younger than a second",
      steps: [
        [0, 100],
        [500, 900],
      ],
      grown: [0, 0],
    },
  ] as const)("$why", ({ steps, grown }) => {
    expect(growths(steps)).toEqual(grown);
  });

  it("of a container that wasn't there before is all that it holds", () => {
    const root = withContainer();
    let atMs = 0;
    const scan = scannerOf(root, () => atMs);
    scan();
    atMs = 1000;
    writeFiles(root, aCgroup(`${pod}/${layout.container("e".repeat(64))}`, { currentMib: 40 }));
    expect(scan().containers.find(({ containerId }) => containerId === "e".repeat(64))?.growthBytes).toBe(40 * MIB);
  });
});

describe("a struck container", () => {
  it("is gone when no process is left in it or when it was removed", () => {
    expect(isCgroupGone(withContainer({ populated: true }), container)).toBe(false);
    expect(isCgroupGone(withContainer({ populated: false }), container)).toBe(true);
    expect(isCgroupGone(aFolder(), container)).toBe(true);
  });
});

it("any tree of folders is walked without a container being invented", () => {
  const names = fc.constantFrom(
    "kubepods",
    "kubepods.slice",
    "kubelet-kubepods.slice",
    "burstable",
    "kubepods-besteffort.slice",
    `kubepods-pod${STATIC}.slice`,
    `pod${BURSTABLE}`,
    "pod",
    "podman",
    `cri-containerd-${CONTAINER}.scope`,
    `crio-conmon-${CONTAINER}.scope`,
    CONTAINER,
    CONTAINER.slice(1),
    "system.slice",
  );
  const paths = fc.array(fc.array(names, { minLength: 1, maxLength: 6 }), { maxLength: 12 });
  const held = fc.property(paths, (folders) => {
    const root = aFolder();
    writeFiles(root, V2_ROOT);
    for (const folder of folders)
      for (let n = 1; n <= folder.length; n += 1) writeFiles(root, aCgroup(folder.slice(0, n).join("/")));
    const found = findCgroupLayout(root);
    const { containers } = createCgroupScanner({
      root,
      kubepods: found.kind === "found" ? found.kubepods : [],
      now: () => 0,
    })();
    for (const { cgroup } of containers) {
      expect(cgroup).toMatch(/kubepods/);
      expect(cgroup.split("/").slice(0, -1).join("/")).toMatch(/(^|[/-])pod[^/]+$/);
      expect(cgroup).toMatch(new RegExp(`(^|/)(cri-containerd-)?${CONTAINER}(.scope)?$`));
    }
    expect(new Set(containers.map(({ cgroup }) => cgroup)).size).toBe(containers.length);
  });
  fc.assert(held, { numRuns: 50 });
});
