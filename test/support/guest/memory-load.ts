/** What the processes of a guest do with its memory, and the cgroups that they do it in. */
import type { MemoryPod } from "./memory-cluster.ts";

export interface Hog {
  readonly upToMib: number;
  readonly mibPerSecond: number;
  /** Takes no more as soon as less than this is available on the whole node. */
  readonly untilAvailableMib?: number;
  /** Takes a hundredth of `mibPerSecond` when less than this is available. */
  readonly slowBelowMib?: number;
  /** Of /proc/<pid>/oom_score_adj. Default: 0. */
  readonly oomScoreAdj?: number;
}

export const HOG_FILE = "/guest/hog.cjs";

/** Takes memory in steps of a tenth of a second, writes to all of it, and then keeps it. */
export const HOG = `
const { readFileSync } = require("node:fs");
const [upTo, perSecond, until, slowBelow] = process.argv.slice(2).map(Number);
const kept = [];
let taken = 0;
setInterval(() => {
  const available = Number(/MemAvailable: +(\\d+)/.exec(readFileSync("/proc/meminfo", "utf8"))[1]) / 1024;
  const step = Math.min(perSecond / (available < slowBelow ? 1000 : 10), upTo - taken);
  if (step <= 0 || available < until) return;
  kept.push(Buffer.alloc(Math.ceil(step * 1048576), 1));
  taken += step;
}, 100);
`;

/** A shell command that is the hog, as a child of the shell that it is given to. */
export function hogCommand({ upToMib, mibPerSecond, untilAvailableMib = 0, slowBelowMib = 0, oomScoreAdj = 0 }: Hog) {
  // Its own garbage is collected before it is a step of megabytes.
  const numbers = [upToMib, mibPerSecond, untilAvailableMib, slowBelowMib].join(" ");
  const run = `node --max-semi-space-size=1 ${HOG_FILE} ${numbers}`;
  return `echo ${oomScoreAdj} >/proc/self/oom_score_adj; ${run}; true`;
}

/**
 * A file for the shell: each process takes memory, by a `dd` that fills its buffer for nobody to read, and starts one more
 * of its kind about every six seconds. Without the wait it is the emulated processor that decides who comes first.
 */
export const FORK_BOMB_FILE = "/guest/bomb";
export const FORK_BOMB = `dd if=/dev/zero bs=8M | while usleep $((RANDOM * 400)); do sh ${FORK_BOMB_FILE} & done\n`;

/** As a kubelet with the systemd driver and containerd lays them out. */
export function cgroupOf({ uid, containerId, isGuaranteed }: MemoryPod): string {
  const id = uid.replaceAll("-", "_");
  const scope = `cri-containerd-${containerId}.scope`;
  const top = "/sys/fs/cgroup/kubepods.slice";
  return isGuaranteed
    ? `${top}/kubepods-pod${id}.slice/${scope}`
    : `${top}/kubepods-burstable.slice/kubepods-burstable-pod${id}.slice/${scope}`;
}

/** A shell command. Controllers are handed down level by level, so that a crowd in one pod leaves the others their time. */
export function makeCgroup(pod: MemoryPod): string {
  const path = cgroupOf(pod);
  const levels = path.slice("/sys/fs/cgroup/".length).split("/").slice(0, -1);
  const parents = levels.map((_, index) => `/sys/fs/cgroup/${levels.slice(0, index + 1).join("/")}`);
  return [
    `mkdir -p ${path}`,
    ...parents.map((parent) => `echo "+cpu +memory +pids" >${parent}/cgroup.subtree_control`),
    `echo ${cpuWeight(pod)} >${path}/../cpu.weight`,
  ].join(" && ");
}

/** As container runtimes make it from a request, by way of the shares of cgroup v1, which a kubelet counts in. */
function cpuWeight({ cpuRequestMilli }: MemoryPod): number {
  const shares = Math.max(Math.floor((cpuRequestMilli * 1024) / 1000), 2);
  return 1 + Math.floor(((shares - 2) * 9999) / 262142);
}
