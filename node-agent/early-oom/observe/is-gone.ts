/** Whether a struck container's processes are gone. */
import { readFileSync } from "node:fs";
import { isGone } from "./read-numbers.ts";

/**
 * True where no process is left in the cgroup or below it, or where the cgroup was removed.
 *
 * @param cgroup relative to `root`.
 */
export function isCgroupGone(root: string, cgroup: string): boolean {
  try {
    return /^populated 0$/m.test(readFileSync(`${root}/${cgroup}/cgroup.events`, "latin1"));
  } catch (error) {
    if (isGone(error)) return true;
    throw new Error(`reading whether cgroup ${cgroup} is empty`, { cause: error });
  }
}
