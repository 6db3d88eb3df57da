/**
 * A Linux machine of its own, in software emulation: for what can't be tried on the machine that runs the tests, such as
 * a watchdog that resets it, or the end of its memory. Boots within some five seconds, and needs neither root nor KVM.
 */
import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { programPath } from "../parts.ts";
import { startProgram } from "../processes.ts";
import { type CommandResult, connectCommandLine } from "./command-line.ts";
import { writeInitramfs } from "./initramfs.ts";
import { guestFiles, type Machine, qemuArguments } from "./machine.ts";
import { connectMonitor } from "./monitor.ts";
import { takePlace } from "./places.ts";
import { tailOf, untilInGuest } from "./until.ts";

export interface GuestStart extends Machine {
  /** How long it may live, boot included. Default: 120,000. If it is still there then, it is ended, and `stop` throws. */
  readonly timeoutMilliseconds?: number;
}

export interface Guest extends AsyncDisposable {
  /** All that kernel and script printed so far; also after the end. */
  readonly console: string;
  /** Resolves when the machine is gone: reset after a panic, switched off by itself, or stopped. */
  readonly exited: Promise<void>;
  isRunning(): boolean;
  /**
   * The first line of the console, from its beginning, that matches. Default patience: 60,000.
   * @throws when the time is over or the guest ends without it, with the end of the console.
   */
  waitForLine(pattern: RegExp, withinMilliseconds?: number): Promise<string>;
  /** Default patience: 60,000. @throws when the time is over, with the end of the console. */
  waitForExit(withinMilliseconds?: number): Promise<void>;
  /**
   * Runs a command in the guest's shell beside the script, and others at the same time. Default patience: 60,000.
   * @throws when it gives no answer in time or the guest ends before; not for an exit code.
   */
  run(command: string, withinMilliseconds?: number): Promise<CommandResult>;
  /** Holds the machine with all its clocks, as a hypervisor can. */
  pause(): Promise<void>;
  resume(): Promise<void>;
  /** Switches the power off. May be called twice. @throws if the guest had outlived its time. */
  stop(): Promise<void>;
}

const BOOT_MILLISECONDS = 90_000;
const LIFE_MILLISECONDS = 120_000;
const PATIENCE_MILLISECONDS = 60_000;

/** Resolves when the guest is set up and its script begins. Waits first if two guests are running already. */
export async function startGuest(start: GuestStart): Promise<Guest> {
  await using onFailure = new AsyncDisposableStack();
  onFailure.use(await takePlace());
  const folder = await mkdtemp(join(tmpdir(), "nodekeeper-guest-"));
  onFailure.defer(() => rm(folder, { recursive: true, force: true }));
  const file = (name: string) => join(folder, name);

  await writeInitramfs(file("initramfs"), guestFiles(start));
  const program = await startProgram({
    name: "a guest",
    command: programPath("qemu"),
    args: qemuArguments(start, file),
    env: {},
    logFile: file("qemu.log"),
  });
  let lastWords: string | undefined;
  const print = () => lastWords ?? readPrinted(file);
  onFailure.defer(async () => {
    await program.stop();
    lastWords = readPrinted(file);
  });

  const { timeoutMilliseconds = LIFE_MILLISECONDS } = start;
  let outlived = false;
  const timer = setTimeout(() => {
    outlived = program.isRunning();
    void program.stop();
  }, timeoutMilliseconds);
  onFailure.defer(() => clearTimeout(timer));

  const until = untilInGuest(program, print);
  const monitor = onFailure.use(await connectMonitor(file("monitor"), until));
  const commands = onFailure.use(await connectCommandLine(file("commands"), until));
  await until("the guest has booted", () => commands.isReady(), BOOT_MILLISECONDS);

  const running = onFailure.move();
  let stopping: Promise<void> | undefined;
  async function end(): Promise<void> {
    await running.disposeAsync();
    if (outlived) throw new Error(`ending a guest that outlived its ${timeoutMilliseconds} ms; ${tailOf(print())}`);
  }
  const stop = () => {
    stopping ??= end();
    return stopping;
  };
  return {
    get console() {
      return print();
    },
    exited: program.exited,
    isRunning: () => program.isRunning(),
    async waitForLine(pattern, withinMilliseconds = PATIENCE_MILLISECONDS) {
      const find = () =>
        print()
          .split("\n")
          .find((line) => line.search(pattern) >= 0);
      await until(`the console shows ${pattern}`, () => find() !== undefined, withinMilliseconds);
      return find() ?? "";
    },
    waitForExit: (withinMilliseconds = PATIENCE_MILLISECONDS) =>
      until("the guest has ended", () => !program.isRunning(), withinMilliseconds),
    run: (command, withinMilliseconds = PATIENCE_MILLISECONDS) => commands.run(command, withinMilliseconds),
    pause: () => monitor.execute("stop"),
    resume: () => monitor.execute("cont"),
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

/** QEMU's complaints, then the console. Neither is there before QEMU is. */
function readPrinted(file: (name: string) => string): string {
  return ["qemu.log", "console"]
    .map(file)
    .filter((path) => existsSync(path))
    .map((path) => readFileSync(path, "utf8").replaceAll("\r", ""))
    .join("");
}
