/**
 * Ends a container as a whole through its cgroup. Nothing here chooses: but right before the write it looks whether the
 * cgroup is still the one that was chosen.
 */
import { closeSync, constants, openSync, readFileSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";
import { reasonOf } from "../../log.ts";
import { listFolders } from "../observe/cgroup-layout.ts";
import { isCgroupGone } from "../observe/is-gone.ts";
import type { ContainerMemory } from "../words.ts";

export type Ended =
  | { readonly kind: "struck"; readonly processes: Processes }
  /** It ended by itself, or something else stands in its place: nothing was written. */
  | { readonly kind: "gone before"; readonly because: string }
  | { readonly kind: "failed"; readonly because: string };

/** What ran in a container: how many, and the first few as `<pid> <name>`; 0 where that couldn't be read. */
export interface Processes {
  readonly count: number;
  readonly named: readonly string[];
}

/** Enough to recognise a program; each costs a read while memory is short. */
const MAX_NAMED = 5;
/** A container that runs systemd or another runtime keeps its processes in cgroups of its own. */
const MAX_DEPTH = 4;

export interface Places {
  /** The cgroup v2 tree. */
  readonly cgroup: string;
  readonly proc: string;
}

/**
 * SIGKILL to every process of the container, those that it forks meanwhile included (kernel 5.14 and later):
 * https://docs.kernel.org/admin-guide/cgroup-v2.html#core-interface-files
 *
 * @param dryRun everything but the write.
 */
export function endContainer(container: ContainerMemory, places: Places, dryRun: boolean): Ended {
  const folder = join(places.cgroup, container.cgroup);
  try {
    const processes = readProcesses(folder, places.proc);
    if (processes.count === 0 && isEmpty(container.cgroup, places)) {
      return { kind: "gone before", because: isGone(folder) ? "its cgroup is gone" : "no process is left in it" };
    }
    const file = openForWriting(join(folder, "cgroup.kill"));
    try {
      if (statSync(folder).ino !== container.birth) return { kind: "gone before", because: "its cgroup was replaced" };
      if (!dryRun) writeSync(file, "1");
    } finally {
      closeSync(file);
    }
    return { kind: "struck", processes };
  } catch (error) {
    if (isGone(folder)) return { kind: "gone before", because: "its cgroup is gone" };
    return { kind: "failed", because: `killing cgroup ${container.cgroup}: ${reasonOf(error)}` };
  }
}

/** Writes to an existing file only: where a kernel has no such file, none may be made. */
export function openForWriting(path: string): number {
  return openSync(path, constants.O_WRONLY);
}

/** For people only: what can't be read must not keep us from striking. */
function readProcesses(folder: string, proc: string): Processes {
  try {
    const pids = readPids(folder, MAX_DEPTH);
    return { count: pids.length, named: pids.slice(0, MAX_NAMED).map((pid) => `${pid} ${nameOf(pid, proc)}`) };
  } catch {
    return { count: 0, named: [] };
  }
}

function readPids(folder: string, depth: number): readonly string[] {
  const own = readFileSync(join(folder, "cgroup.procs"), "utf8").split("\n").filter(Boolean);
  if (own.length > 0 || depth === 0) return own;
  return listFolders(folder).flatMap((name) => readPids(join(folder, name), depth - 1));
}

/** Memory outlives processes: page cache and tmpfs stay charged until the cgroup is removed. Killing nobody frees none. */
function isEmpty(cgroup: string, places: Places): boolean {
  try {
    return isCgroupGone(places.cgroup, cgroup);
  } catch {
    return false;
  }
}

function nameOf(pid: string, proc: string): string {
  try {
    return readFileSync(join(proc, pid, "comm"), "utf8").trim();
  } catch {
    // It ended meanwhile, or it is in another pid namespace than we are.
    return "?";
  }
}

function isGone(folder: string): boolean {
  return statSync(folder, { throwIfNoEntry: false }) === undefined;
}
