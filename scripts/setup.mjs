/**
 * Makes a fresh clone ready: `node scripts/setup.mjs check|demo|test`. Says at once what the machine lacks and what it
 * would be for, installs packages, and finds or builds the real programs that the tests run. The second time it takes
 * no time. Only Node's own modules, and nothing newer than Node 20, since nothing else is there yet.
 */

import { inspectMachine } from "./setup/machine.mjs";
import { SetupFault, say } from "./setup/output.mjs";
import { installPackages } from "./setup/packages.mjs";
import { recordParts } from "./setup/parts.mjs";
import { findOrBuildPrograms } from "./setup/programs.mjs";
import { installPythons } from "./setup/pythons.mjs";

const MODES = ["check", "demo", "test"];

async function setUp(mode) {
  const machine = inspectMachine(mode);
  await installPackages();
  if (mode === "check") return;

  const pythons = await installPythons(machine.python, mode === "test" ? ["emulator", "moto"] : ["emulator"]);
  const programs = await findOrBuildPrograms(machine.go, mode === "test");
  recordParts(pythons, programs);
}

const mode = process.argv[2] ?? "test";
try {
  if (!MODES.includes(mode)) throw new SetupFault(`knows ${MODES.join(", ")}, not ${mode}`);
  await setUp(mode);
} catch (fault) {
  if (!(fault instanceof SetupFault)) throw fault;
  say(fault.message);
  process.exitCode = 1;
}
