/**
 * Makes a fresh clone ready: `node scripts/setup.mjs check|demo|real-demo|test`. Says at once what the machine lacks and
 * what it would be for, installs packages, and finds or builds the real programs that the tests run. The second time it
 * takes no time. Only Node's own modules, and nothing newer than Node 20, since nothing else is there yet.
 */

import { allOf } from "./setup/command.mjs";
import { inspectMachine } from "./setup/machine.mjs";
import { SetupFault, say } from "./setup/output.mjs";
import { installPackages } from "./setup/packages.mjs";
import { recordParts } from "./setup/parts.mjs";
import { buildPrograms, findPrograms } from "./setup/programs.mjs";
import { installPythons } from "./setup/pythons.mjs";

/**
 * What each mode prepares besides the packages. Programs of Kubernetes are `found` if they are there, `built` where there
 * is a Go, or `needed`: then a machine on which they can't be had is refused.
 */
const MODES = {
  check: { pythons: [], programs: "unused" },
  demo: { pythons: ["emulator"], programs: "found" },
  "real-demo": { pythons: ["emulator"], programs: "needed" },
  // On CI nothing may be skipped.
  test: { pythons: ["emulator", "moto"], programs: process.env.CI ? "needed" : "built" },
};

async function setUp(mode) {
  const { found, missing } = mode.programs === "unused" ? { found: {}, missing: [] } : findPrograms();
  const machine = inspectMachine(mode, missing);
  const [, pythons] = await allOf([installPackages(), installPythons(machine.python, mode.pythons)]);
  if (mode.programs === "unused") return;

  const built = await buildPrograms(machine.go, missing);
  const because = mode.programs === "found" ? "run: npm run setup" : "not found, and no Go 1.26 to build it with";
  const absent = missing.filter((name) => !Object.hasOwn(built, name));
  recordParts({ ...pythons, ...found, ...built }, Object.fromEntries(absent.map((name) => [name, because])));
}

const mode = process.argv[2] ?? "test";
try {
  if (!Object.hasOwn(MODES, mode)) throw new SetupFault(`knows ${Object.keys(MODES).join(", ")}, not ${mode}`);
  await setUp(MODES[mode]);
} catch (fault) {
  if (!(fault instanceof SetupFault)) throw fault;
  say(fault.message);
  process.exitCode = 1;
}
