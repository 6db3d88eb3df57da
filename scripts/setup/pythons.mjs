/** A Python environment each for the AWS emulator and for moto, in the cache, named by the hash of what is in it. */
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { allOf, ask, execute, REPOSITORY } from "./command.mjs";
import { CACHE_FOLDER, once } from "./once.mjs";
import { withProgress } from "./output.mjs";

const NAMES = ["emulator", "moto"];

/**
 * Paths by part name (as test/rig/parts.ts knows it). Those of `wanted` are installed if need be; the others are told
 * of if they are there.
 */
export async function installPythons(python, wanted) {
  if (wanted.length === 0) return {};
  const environments = NAMES.map((name) => locate(python, name));
  await allOf(environments.filter(({ name }) => wanted.includes(name)).map((one) => install(python, one)));
  return Object.fromEntries(environments.filter(works).map(({ name, binary }) => [`${name}-python`, binary]));
}

function locate(python, name) {
  const requirements = join(REPOSITORY, `test/rig/python/${name}.txt`);
  const hash = createHash("sha256")
    .update(readFileSync(requirements))
    .update(python.version)
    .digest("hex")
    .slice(0, 16);
  const folder = join(CACHE_FOLDER, `python-${hash}`);
  return { name, requirements, folder, lock: `python-${hash}`, binary: join(folder, "bin/python") };
}

/** Also that it runs: its Python is a link to one of the system's, which may have gone since. */
function works({ binary }) {
  return ask(binary, ["-c", ""]) !== undefined;
}

async function install(python, environment) {
  const { name, requirements, folder, lock } = environment;
  await once(
    lock,
    () => works(environment),
    () =>
      withProgress(`installing the Python packages of ${name}`, async () => {
        const partial = `${folder}.partial`;
        rmSync(partial, { recursive: true, force: true });
        mkdirSync(CACHE_FOLDER, { recursive: true });
        await execute(python.command, ["-m", "venv", partial]);
        const pip = ["-m", "pip", "install", "--quiet", "--no-input", "--disable-pip-version-check"];
        await execute(join(partial, "bin/python"), [...pip, "--requirement", requirements]);
        // Its python works from any place; pip and other scripts name the old one, and nobody runs them again.
        rmSync(folder, { recursive: true, force: true });
        renameSync(partial, folder);
      }),
  );
}
