/**
 * Programs of the rig as processes: started with a log file, awaited until ready, ended by id. Whatever happens to the
 * process that started them, even SIGKILL, they don't outlive it.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { waitUntil } from "./wait.ts";

export interface ProgramStart {
  /** For messages. */
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  /** The whole environment; nothing is inherited. */
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly logFile: string;
  /** Asked again and again until it says true; a rejection counts as "not yet". Default: ready at once. */
  readonly isReady?: () => Promise<boolean>;
  readonly readyWithinMilliseconds?: number;
}

export interface RunningProgram extends AsyncDisposable {
  readonly pid: number;
  readonly logFile: string;
  isRunning(): boolean;
  /** Resolves when it is gone, however that came. */
  readonly exited: Promise<void>;
  /** SIGTERM, and SIGKILL to its whole process group if it is still there after 5 s. May be called twice. */
  stop(): Promise<void>;
}

/** All are ready within 5 s on an idle machine. */
const READY_WITHIN_MILLISECONDS = 60_000;
const TERM_MILLISECONDS = 5_000;
const LOG_LINES_IN_ERROR = 15;

/** @throws if the program ends or isn't ready in time, with the last lines of its log; it is stopped by then. */
export async function startProgram(start: ProgramStart): Promise<RunningProgram> {
  const log = openSync(start.logFile, "a");
  // Detached: its own process group, so that its children can be ended with it, and Ctrl-C reaches only us.
  const child = spawn(start.command, start.args, {
    env: { ...start.env },
    detached: true,
    stdio: ["ignore", log, log],
    ...(start.cwd === undefined ? {} : { cwd: start.cwd }),
  });
  closeSync(log);
  await once(child, "spawn").catch((cause: unknown) => {
    throw new Error(`starting ${start.name} (${start.command})`, { cause });
  });
  const program = watch(child, start);
  try {
    await untilReady(program, start);
    return program;
  } catch (cause) {
    await program.stop();
    throw new Error(`starting ${start.name}; its log ends with\n${await tail(start.logFile)}`, { cause });
  }
}

function watch(child: ChildProcess, { name, logFile }: ProgramStart): RunningProgram {
  const { pid } = child;
  if (pid === undefined) throw new Error(`starting ${name}: no process id`);
  const guard = guardGroup(pid);
  const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const isRunning = () => child.exitCode === null && child.signalCode === null;
  let stopping: Promise<void> | undefined;

  async function end(): Promise<void> {
    if (isRunning()) {
      child.kill("SIGTERM");
      await Promise.race([exited, sleep(TERM_MILLISECONDS, undefined, { ref: false })]);
    }
    // Also after a good end: what the program itself started must go too.
    killGroup(pid ?? 0);
    await exited;
    guard.release();
  }
  const stop = () => {
    stopping ??= end();
    return stopping;
  };
  return { pid, logFile, isRunning, exited, stop, [Symbol.asyncDispose]: stop };
}

/**
 * A shell that waits on a pipe from us. A line on it means that the group was ended in order; the end of the pipe means
 * that we are gone, however it came, and then the shell ends the group.
 */
function guardGroup(pid: number): { release(): void } {
  const script = 'read -r ended || kill -s KILL -- "-$1"';
  const shell = spawn("/bin/sh", ["-c", script, "guard", String(pid)], {
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  shell.unref();
  shell.stdin.on("error", () => {});
  return { release: () => shell.stdin.end("ended\n") };
}

function killGroup(pid: number): void {
  if (pid <= 1) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // Nobody is left in the group.
  }
}

async function untilReady(program: RunningProgram, start: ProgramStart): Promise<void> {
  const { isReady } = start;
  if (isReady === undefined) return;
  const ready = async () => {
    if (!program.isRunning()) throw new Error(`${start.name} ended by itself`);
    return isReady().catch(() => false);
  };
  const withinMilliseconds = start.readyWithinMilliseconds ?? READY_WITHIN_MILLISECONDS;
  await waitUntil(`${start.name} is ready`, ready, { withinMilliseconds, everyMilliseconds: 50 });
}

async function tail(file: string): Promise<string> {
  const lines = (await readFile(file, "utf8").catch(() => "")).trimEnd().split("\n");
  return lines.slice(-LOG_LINES_IN_ERROR).join("\n");
}
