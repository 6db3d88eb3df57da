/** Where on this node the containers' cgroups are: every distribution puts `kubepods` somewhere else. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import type { CgroupLayout } from "../words.ts";
import { isKubepods } from "./cgroup-names.ts";
import { isGone } from "./read-numbers.ts";

/** A kubelet in a container in a service has `kubepods` on the fifth level. */
const MAX_DEPTH = 5;
const MAX_FOLDERS = 5_000;

/** @param root where the host's cgroup file system is mounted. */
export function findCgroupLayout(root: string): CgroupLayout {
  if (!existsSync(`${root}/cgroup.controllers`)) {
    return none("no cgroup v2 at the root: the node has version 1 or both (systemd.unified_cgroup_hierarchy=0)");
  }
  if (!readFileSync(`${root}/cgroup.controllers`, "utf8").split(/\s/).includes("memory")) {
    return none("cgroup v2 is there, but without the memory controller");
  }
  const kubepods = findKubepods(root);
  if (kubepods.length === 0) return none("no kubepods cgroup: the kubelet hasn't started a pod, or uses another name");
  const counted = kubepods.filter((path) => existsSync(`${root}/${path}/memory.current`));
  if (counted.length === 0) return none("kubepods is there, but its memory isn't counted");
  return { kind: "found", kubepods: counted };
}

/** Level by level; what lies inside a `kubepods` is its containers' own business. */
function findKubepods(root: string): readonly string[] {
  const found: string[] = [];
  let level: readonly string[] = [""];
  let looked = 0;
  for (let depth = 0; depth < MAX_DEPTH && level.length > 0; depth += 1) {
    const next: string[] = [];
    for (const folder of level) {
      looked += 1;
      if (looked > MAX_FOLDERS) return found;
      for (const name of listFolders(`${root}/${folder}`)) {
        (isKubepods(name) ? found : next).push(folder === "" ? name : `${folder}/${name}`);
      }
    }
    level = next;
  }
  return found;
}

/** Names of the cgroups right below; none where it is gone. */
export function listFolders(path: string): readonly string[] {
  try {
    return readdirSync(path, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));
  } catch (error) {
    if (isGone(error)) return [];
    throw new Error(`listing cgroup ${path}`, { cause: error });
  }
}

function none(because: string): CgroupLayout {
  return { kind: "none", because };
}
