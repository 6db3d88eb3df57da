/** Takes a few modules out of a kernel's package, with those they need and the lists that modprobe reads. */
import { copyFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { execute, isInstalled } from "./command.mjs";
import { SetupFault } from "./output.mjs";

const ENDING = /\.ko(\.xz)?$/;

/** What is in the kernel itself differs from one version to the next: nothing of it is to be loaded. */
const LISTS = { loadable: "modules.dep", builtIn: "modules.builtin" };

/** Whether `folder` holds what takeModules makes of `wanted`. */
export function hasModules(folder, wanted) {
  const paths = Object.values(LISTS).map((name) => join(folder, name));
  const lines = paths.filter((path) => existsSync(path)).flatMap((path) => readFileSync(path, "utf8").split("\n"));
  return wanted.every((module) => lines.some((line) => line.startsWith(`${module}.ko`)));
}

/**
 * Copies the modules `wanted` from anywhere below `source` into `target`, none compressed, and writes modules.dep and
 * modules.builtin there.
 * @throws SetupFault where the kernel has no such module.
 */
export async function takeModules(source, target, wanted) {
  const paths = readdirSync(source, { recursive: true });
  const files = paths.filter((path) => ENDING.test(path));
  const builtIn = builtInModules(source, paths);
  const needs = new Map();
  const take = async (module) => {
    if (needs.has(module) || builtIn.includes(module)) return;
    const file = files.find((path) => nameOf(path) === module);
    if (file === undefined) throw new SetupFault(`the guest's kernel has no module ${module}`);
    const path = await decompress(join(source, file));
    copyFileSync(path, join(target, `${module}.ko`));
    needs.set(module, dependenciesOf(path));
    for (const needed of needs.get(module)) await take(needed);
  };
  for (const module of wanted) await take(module);
  writeFileSync(join(target, LISTS.loadable), listDependencies(needs));
  const inKernel = wanted.filter((module) => builtIn.includes(module));
  writeFileSync(join(target, LISTS.builtIn), inKernel.map((module) => `${module}.ko\n`).join(""));
}

function builtInModules(source, paths) {
  const list = paths.find((path) => basename(path) === LISTS.builtIn);
  if (list === undefined) return [];
  return readFileSync(join(source, list), "utf8").split("\n").map(nameOf);
}

function nameOf(path) {
  return basename(path).replace(ENDING, "");
}

/** Newer kernels of Debian have theirs compressed. */
async function decompress(path) {
  if (!path.endsWith(".xz")) return path;
  if (!isInstalled("xz"))
    throw new SetupFault("the guest's kernel has its modules compressed, on Debian: apt-get install xz-utils");
  await execute("xz", ["--decompress", path]);
  return path.slice(0, -".xz".length);
}

/** What a module says of itself, in its section .modinfo. */
function dependenciesOf(path) {
  const [, names = ""] = readFileSync(path, "latin1").match(/\0depends=([^\0]*)\0/) ?? [];
  return names.split(",").filter((name) => name !== "");
}

/** Each line has the whole chain, and is loaded from its end: https://man7.org/linux/man-pages/man5/modules.dep.5.html */
function listDependencies(needs) {
  const chain = (module) => needs.get(module).flatMap((needed) => [needed, ...chain(needed)]);
  const lines = [...needs.keys()].map((module) => {
    const lastOnly = chain(module).filter((needed, index, all) => all.lastIndexOf(needed) === index);
    return `${module}.ko:${lastOnly.map((needed) => ` ${needed}.ko`).join("")}\n`;
  });
  return lines.join("");
}
