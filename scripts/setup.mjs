/**
 * Makes a fresh clone ready: `node scripts/setup.mjs check|demo|real-demo|test`. Says at once what the machine lacks and
 * what it would be for, installs packages, and finds or builds the real programs that the tests run. The second time it
 * takes no time. Only Node's own modules, and nothing newer than Node 20, since nothing else is there yet.
 */

import { allOf } from "./setup/command.mjs";
import { prepareGuestKernel } from "./setup/guest-kernel.mjs";
import { inspectMachine } from "./setup/machine.mjs";
import { SetupFault, say } from "./setup/output.mjs";
import { findPackaged } from "./setup/packaged.mjs";
import { installPackages } from "./setup/packages.mjs";
import { recordParts } from "./setup/parts.mjs";
import { buildPrograms, findPrograms } from "./setup/programs.mjs";
import { installPythons } from "./setup/pythons.mjs";

/**
 * What each mode prepares besides the packages. Programs of Kubernetes are `found` if they are there, `built` where there
 * is a Go, or `needed`: then a machine on which they can't be had is refused. So it is with what guests and images are
 * made with, but for the kernel of the guests, which is fetched, that comes from the machine's own distribution.
 */
const MODES = {
  check: { pythons: [], programs: "unused" },
  demo: { pythons: ["emulator"], programs: "found", guests: "found" },
  "real-demo": { pythons: ["emulator"], programs: "needed", guests: "found" },
  // On CI nothing may be skipped.
  test: process.env.CI
    ? { pythons: ["emulator", "moto"], programs: "needed", guests: "needed" }
    : { pythons: ["emulator", "moto"], programs: "built", guests: "fetched" },
};

async function setUp(mode) {
  const nothing = { found: {}, missing: [] };
  const { found, missing } = mode.programs === "unused" ? nothing : findPrograms();
  const packaged = findPackaged();
  const machine = inspectMachine(mode, missing, packaged.missing);
  const [, pythons] = await allOf([installPackages(), installPythons(machine.python, mode.pythons)]);
  if (mode.programs === "unused") return;

  const [built, kernel] = await allOf([
    buildPrograms(machine.go, missing),
    prepareGuestKernel(mode.guests, packaged.missing),
  ]);
  const because = mode.programs === "found" ? "run: npm run setup" : "not found, and no Go 1.26 to build it with";
  const absent = missing.filter((name) => !Object.hasOwn(built, name));
  recordParts(
    { ...pythons, ...found, ...built, ...packaged.found, ...(kernel.path && { "guest-kernel": kernel.path }) },
    {
      ...Object.fromEntries(absent.map((name) => [name, because])),
      ...packaged.missing,
      ...(kernel.because && { "guest-kernel": kernel.because }),
    },
  );
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
