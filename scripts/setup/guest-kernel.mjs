/**
 * The kernel that guests of the tests boot: Debian's small one for virtual machines, with the few modules that are
 * needed, in the cache by version. One that is there is used for good, so that later set-ups need no network.
 */
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { ask, execute } from "./command.mjs";
import { hasModules, takeModules } from "./kernel-modules.mjs";
import { CACHE_FOLDER, once } from "./once.mjs";
import { SetupFault, say, withProgress } from "./output.mjs";
import { GUEST_PROGRAMS } from "./packaged.mjs";

/** Depends on the newest one. */
const KERNELS = "linux-image-cloud-amd64";
const MODULES = ["softdog", "virtio_pci", "virtio_net", "loop"];
const PREFIX = "guest-kernel-";

/**
 * The `path` of its folder, which holds `vmlinuz` and `modules`, or `because`: why there is none. `how` is "found",
 * "fetched" or "needed"; `missing` are the reasons why other programs aren't there, by name.
 * @throws SetupFault where it is needed and can't be had.
 */
export async function prepareGuestKernel(how, missing) {
  const lack = GUEST_PROGRAMS.map((name) => missing[name]).find((reason) => reason !== undefined);
  if (lack !== undefined) return { because: lack };
  try {
    if (how !== "found") await fetchUnlessThere();
  } catch (fault) {
    if (how === "needed" || !(fault instanceof SetupFault)) throw fault;
    say(fault.message);
    return { because: "couldn't be fetched, try again: npm run setup" };
  }
  const path = findGuestKernel();
  return path === undefined ? { because: "run: npm run setup" } : { path };
}

function findGuestKernel() {
  if (!existsSync(CACHE_FOLDER)) return undefined;
  const isWhole = (folder) => hasModules(join(folder, "modules"), MODULES);
  const byVersion = new Intl.Collator("en", { numeric: true }).compare;
  return readdirSync(CACHE_FOLDER)
    .filter((name) => name.startsWith(PREFIX) && !name.endsWith(".partial"))
    .sort(byVersion)
    .map((name) => join(CACHE_FOLDER, name))
    .findLast(isWhole);
}

async function fetchUnlessThere() {
  await once(
    "guest-kernel",
    () => findGuestKernel() !== undefined,
    () => {
      const kernel = newestKernel();
      return withProgress(`fetching ${kernel}, once`, () => fetchKernel(kernel));
    },
  );
}

/** The name of its package, such as linux-image-6.1.0-57-cloud-amd64. */
function newestKernel() {
  const [, kernel] = (ask("apt-cache", ["depends", KERNELS]) ?? "").match(/Depends: (linux-image-\S+)/) ?? [];
  if (kernel === undefined) {
    throw new SetupFault(`this machine knows no package ${KERNELS}, on Debian: apt-get update`);
  }
  return kernel;
}

async function fetchKernel(kernel) {
  const version = kernel.replace("linux-image-", "");
  const folder = join(CACHE_FOLDER, `${PREFIX}${version}`);
  const partial = `${folder}.partial`;
  const [unpacked, modules] = [join(partial, "unpacked"), join(partial, "modules")];
  rmSync(partial, { recursive: true, force: true });
  mkdirSync(modules, { recursive: true });

  await execute("apt-get", ["download", kernel], { cwd: partial });
  const archive = readdirSync(partial).find((name) => name.endsWith(".deb"));
  if (archive === undefined) throw new SetupFault(`downloading ${kernel} brought no file`);
  await execute("dpkg-deb", ["--extract", join(partial, archive), unpacked]);
  renameSync(join(unpacked, "boot", `vmlinuz-${version}`), join(partial, "vmlinuz"));
  await takeModules(unpacked, modules, MODULES);
  rmSync(join(partial, archive));
  rmSync(unpacked, { recursive: true });
  // What lacks a module that is needed now is no use either.
  rmSync(folder, { recursive: true, force: true });
  renameSync(partial, folder);
}
