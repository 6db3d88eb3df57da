/**
 * A node of files: the part of /proc and the cgroup tree that early-oom looks at, with the containers of the pods that the
 * API server knows. Nothing here is the machine's: whatever an agent ends, it ends in a folder.
 */
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { shortageLineKib } from "../../node-agent/early-oom/decide/shortage.ts";

export interface NodePod {
  readonly uid: string;
  /** 64 hexadecimal digits. */
  readonly containerId: string;
  readonly usesMib: number;
}

export interface FileNode {
  /** Where the agent finds what. */
  readonly settings: Readonly<Record<string, string>>;
  /** MemAvailable from now on, in KiB. */
  available(kib: number): void;
  isStruck(pod: NodePod): boolean;
}

export const TOTAL_KIB = 8 * 1024 * 1024;
/** Where rule A looks closer, by the settings that ship. */
export const LINE_KIB = shortageLineKib(TOTAL_KIB, { a: true, b: true, c: true, evictionHardKib: 100 * 1024 });
const KUBEPODS = "kubepods.slice";
const PID = "4242";

/** As many lines as a kernel 6 writes: what is read and searched has its length. */
const STAT_KEYS = `anon file kernel kernel_stack pagetables sec_pagetables percpu sock vmalloc shmem zswap zswapped
  file_mapped file_dirty file_writeback swapcached anon_thp file_thp shmem_thp inactive_anon active_anon inactive_file
  active_file unevictable slab_reclaimable slab_unreclaimable slab workingset_refault_anon workingset_refault_file
  workingset_activate_anon workingset_activate_file workingset_restore_anon workingset_restore_file
  workingset_nodereclaim pgscan pgsteal pgscan_kswapd pgscan_direct pgsteal_kswapd pgsteal_direct pgfault pgmajfault
  pgrefill pgactivate pgdeactivate pglazyfree pglazyfreed thp_fault_alloc thp_collapse_alloc`.split(/\s+/);

/** @param root a folder of its own. */
export function layOutNode(root: string, pods: readonly NodePod[]): FileNode {
  const proc = join(root, "proc");
  const cgroup = join(root, "cgroup");
  const sysrq = join(root, "sysrq-trigger");
  const meminfo = meminfoWriter(join(proc, "meminfo"));
  write(join(proc, "pressure/memory"), `some ${NO_PRESSURE}full ${NO_PRESSURE}`);
  write(join(proc, "vmstat"), "nr_free_pages 1000\noom_kill 0\n");
  write(join(proc, PID, "comm"), "server\n");
  write(sysrq, "");
  write(join(cgroup, "cgroup.controllers"), "cpu io memory pids\n");
  write(join(cgroup, KUBEPODS, "memory.current"), `${4 * 1024 ** 3}\n`);
  write(join(cgroup, KUBEPODS, "cgroup.kill"), "");
  for (const pod of pods) layOutPod(cgroup, pod);
  return {
    settings: {
      EARLY_OOM_PROC: proc,
      EARLY_OOM_CGROUP: cgroup,
      EARLY_OOM_SYSRQ_TRIGGER: sysrq,
      EARLY_OOM_SPOOL: join(root, "spool"),
    },
    available: meminfo,
    isStruck: (pod) => statSync(join(cgroup, cgroupOf(pod), "cgroup.kill")).size > 0,
  };
}

const NO_PRESSURE = "avg10=0.00 avg60=0.00 avg300=0.00 total=1000\n";

/** Over the machine's own text, which has the right length; each writing is as long as the one before, so none is torn. */
function meminfoWriter(path: string): (availableKib: number) => void {
  const machine = readFileSync("/proc/meminfo", "utf8");
  const textOf = (availableKib: number) =>
    machine
      .replace(/^MemTotal:.*$/m, lineOf("MemTotal", TOTAL_KIB))
      .replace(/^MemAvailable:.*$/m, lineOf("MemAvailable", availableKib));
  write(path, textOf(TOTAL_KIB / 2));
  return (availableKib) => writeFileSync(path, textOf(availableKib), { flag: "r+" });
}

function lineOf(key: string, kib: number): string {
  return `${`${key}:`.padEnd(16)}${String(Math.max(Math.round(kib), 0)).padStart(8)} kB`;
}

function layOutPod(root: string, pod: NodePod): void {
  const container = join(root, cgroupOf(pod));
  for (const folder of [dirname(container), container]) {
    write(join(folder, "memory.current"), `${pod.usesMib * 1024 ** 2}\n`);
    write(join(folder, "memory.stat"), STAT_KEYS.map((key) => `${key} ${key.length * 4096}\n`).join(""));
    write(join(folder, "memory.events"), "low 0\nhigh 0\nmax 0\noom 0\noom_kill 0\noom_group_kill 0\n");
    write(join(folder, "cgroup.events"), "populated 1\nfrozen 0\n");
    write(join(folder, "cgroup.kill"), "");
    write(join(folder, "cgroup.procs"), `${PID}\n`);
  }
}

/** By the kubelet's systemd driver, with containerd. */
function cgroupOf({ uid, containerId }: NodePod): string {
  const pod = `kubepods-burstable-pod${uid.replaceAll("-", "_")}.slice`;
  return `${KUBEPODS}/kubepods-burstable.slice/${pod}/cri-containerd-${containerId}.scope`;
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}
