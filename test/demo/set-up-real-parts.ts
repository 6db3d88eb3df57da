/** The set-up of `--cluster real`: `npm run demo` alone needs no Kubernetes programs, so they are found or built only here. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";

const SETUP = join(import.meta.dirname, "../../scripts/setup.mjs");

/** Whether all parts are there now. If not, the set-up has said what the machine lacks; it also shows its progress itself. */
export async function setUpRealParts(): Promise<boolean> {
  const setUp = spawn(process.execPath, [SETUP, "real-demo"], { stdio: ["ignore", "inherit", "inherit"] });
  const [exitCode] = await once(setUp, "close");
  return exitCode === 0;
}
