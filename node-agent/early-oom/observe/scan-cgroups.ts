/** Walks over the containers of the node: what each holds, and what it grew by since an earlier walk. */
import { statSync } from "node:fs";
import type { CgroupScan, ContainerMemory, PodOomKills, QosClass } from "../words.ts";
import { listFolders } from "./cgroup-layout.ts";
import { findContainerId, findPodUid, findQosClass, isStaticUid } from "./cgroup-names.ts";
import { createGrowth, type Holding } from "./growth.ts";
import { createKernelText, firstNumber, isGone, numberAfter, readIfThere } from "./read-numbers.ts";

const INACTIVE_FILE = Buffer.from("\ninactive_file ");
const OOM_KILL = Buffer.from("\noom_kill ");

export interface ScanOptions {
  readonly root: string;
  /** As `findCgroupLayout` found them. */
  readonly kubepods: readonly string[];
  /** Monotonic milliseconds. */
  readonly now: () => number;
}

interface PodFolder {
  readonly cgroup: string;
  readonly podUid: string;
  readonly qos: QosClass;
}

/** The returned function walks once; what vanishes meanwhile isn't in its answer. */
export function createCgroupScanner({ root, kubepods, now }: ScanOptions): () => CgroupScan {
  const text = createKernelText();
  const growth = createGrowth();

  const readNumber = (path: string, key: Buffer): number | undefined =>
    readIfThere(path, text) ? numberAfter(text, key) : undefined;

  const measure = (pod: PodFolder, name: string): Holding | undefined => {
    const containerId = findContainerId(name);
    if (containerId === undefined) return undefined;
    const cgroup = `${pod.cgroup}/${name}`;
    const path = `${root}/${cgroup}`;
    const currentBytes = readIfThere(`${path}/memory.current`, text) ? firstNumber(text) : undefined;
    const inactiveFileBytes = readNumber(`${path}/memory.stat`, INACTIVE_FILE);
    const oomKills = readNumber(`${path}/memory.events`, OOM_KILL);
    const birth = findBirth(path);
    if (currentBytes === undefined || inactiveFileBytes === undefined) return undefined;
    if (oomKills === undefined || birth === undefined) return undefined;
    const workingSetBytes = Math.max(currentBytes - inactiveFileBytes, 0);
    const { podUid, qos } = pod;
    const isStatic = isStaticUid(podUid);
    return {
      cgroup,
      podUid,
      isStatic,
      qos,
      containerId,
      currentBytes,
      inactiveFileBytes,
      workingSetBytes,
      birth,
      oomKills,
    };
  };

  return () => {
    const atMs = now();
    const folders = kubepods.flatMap((path) => listPods(root, path));
    const holdings = folders.flatMap((pod) =>
      listFolders(`${root}/${pod.cgroup}`).flatMap((name) => measure(pod, name) ?? []),
    );
    const pods: readonly PodOomKills[] = folders.flatMap(({ cgroup, podUid }) => {
      const oomKills = readNumber(`${root}/${cgroup}/memory.events`, OOM_KILL);
      return oomKills === undefined ? [] : [{ podUid, cgroup, oomKills }];
    });
    const containers: readonly ContainerMemory[] = growth(holdings, atMs);
    return { atMs, containers, pods };
  };
}

/** Guaranteed pods stand right below `kubepods`, the others in a folder of their class. */
function listPods(root: string, kubepods: string): readonly PodFolder[] {
  return listFolders(`${root}/${kubepods}`).flatMap((name) => {
    const cgroup = `${kubepods}/${name}`;
    const podUid = findPodUid(name);
    if (podUid !== undefined) return [{ cgroup, podUid, qos: "guaranteed" as const }];
    const qos = findQosClass(name);
    if (qos === undefined) return [];
    return listFolders(`${root}/${cgroup}`).flatMap((below) => {
      const uid = findPodUid(below);
      return uid === undefined ? [] : [{ cgroup: `${cgroup}/${below}`, podUid: uid, qos }];
    });
  });
}

/** The kernel numbers cgroups in the order of their creation. Their times say when somebody first looked instead. */
function findBirth(path: string): number | undefined {
  try {
    return statSync(path).ino;
  } catch (error) {
    if (isGone(error)) return undefined;
    throw error;
  }
}
