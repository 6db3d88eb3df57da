/**
 * Ends the processes in which the emulator runs a function, as abruptly as a host that fails: nothing of the invocation
 * is finished, and nobody is told. They are found by their parents and their command line in /proc, so on Linux only.
 */
import { readdir, readFile, readlink, realpath } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Emulator } from "../rig/emulator.ts";

interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly commandLine: readonly string[];
}

/** SIGKILL to every process of the function, also to those that wait for work. Gives their ids; none if none runs. */
export async function killFunction(
  emulator: Pick<Emulator, "logFile">,
  functionName: string,
): Promise<readonly number[]> {
  const folder = await realpath(dirname(emulator.logFile));
  const all = await listProcesses();
  const own = all.filter(({ parent }) => parent === process.pid);
  const emulators = await Promise.all(own.map(async ({ pid }) => ((await folderOf(pid)) === folder ? [pid] : [])));
  // The emulator unpacks a function below its own folder, and runs a script that lies beside it.
  const unpacked = join(folder, `ministack-lambda-${functionName}-`);
  const workers = all.filter(
    ({ parent, commandLine }) =>
      emulators.flat().includes(parent) && commandLine.some((word) => word.startsWith(unpacked)),
  );
  for (const { pid } of workers) process.kill(pid, "SIGKILL");
  return workers.map(({ pid }) => pid);
}

async function listProcesses(): Promise<readonly Process[]> {
  const ids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name)).map(Number);
  return (await Promise.all(ids.map(readProcess))).filter((one) => one !== undefined);
}

/** Undefined for one that has ended meanwhile. */
async function readProcess(pid: number): Promise<Process | undefined> {
  try {
    const [stat, commandLine] = await Promise.all([
      readFile(`/proc/${pid}/stat`, "utf8"),
      readFile(`/proc/${pid}/cmdline`, "utf8"),
    ]);
    // `pid (name) state parent …`, where the name may hold anything, brackets too.
    const [, parent] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return { pid, parent: Number(parent), commandLine: commandLine.split("\0") };
  } catch {
    return undefined;
  }
}

async function folderOf(pid: number): Promise<string | undefined> {
  return readlink(`/proc/${pid}/cwd`).catch(() => undefined);
}
