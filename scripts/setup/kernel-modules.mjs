/** Takes a few modules out of a kernel's package, with those they need and the list of dependencies that modprobe reads. */
import { copyFileSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { execute, isInstalled } from "./command.mjs";
import { SetupFault } from "./output.mjs";

const ENDING = /\.ko(\.xz)?$/;

/**
 * Copies the modules `wanted` from anywhere below `source` into `target`, none compressed, and writes modules.dep there.
 * @throws SetupFault where the kernel has no such module.
 */
export async function takeModules(source, target, wanted) {
  const files = readdirSync(source, { recursive: true }).filter((path) => ENDING.test(path));
  const needs = new Map();
  const take = async (module) => {
    if (needs.has(module)) return;
    const file = files.find((path) => basename(path).replace(ENDING, "") === module);
    if (file === undefined) throw new SetupFault(`the guest's kernel has no module ${module}`);
    const path = await decompress(join(source, file));
    copyFileSync(path, join(target, `${module}.ko`));
    needs.set(module, dependenciesOf(path));
    for (const needed of needs.get(module)) await take(needed);
  };
  for (const module of wanted) await take(module);
  writeFileSync(join(target, "modules.dep"), listDependencies(needs));
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
