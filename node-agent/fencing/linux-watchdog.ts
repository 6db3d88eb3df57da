/**
 * A watchdog of the Linux kernel, softdog or hardware: https://docs.kernel.org/watchdog/watchdog-api.html. The device
 * file starts, feeds and stops it; sysfs says what it is and whether it really runs.
 */
import { closeSync, constants, fstatSync, openSync, statSync, writeSync } from "node:fs";
import { reasonOf } from "../log.ts";
import type { DeviceProblem, DeviceSight, Opening, Unusable, WatchdogDevice } from "./device.ts";
import { absent, describeDog } from "./sysfs.ts";

export interface LinuxWatchdogOptions {
  /** Such as `/dev/watchdog`. */
  readonly device: string;
  /** Default `/sys/class/watchdog`. */
  readonly sysfs: string;
  /** Opens and writes; tests have their own. */
  readonly calls?: DeviceCalls;
}

export interface DeviceCalls {
  /** @throws as node:fs does. */
  open(path: string, flags: number): number;
  write(handle: number, byte: string): number;
  close(handle: number): void;
}

/** Any byte but the magic `V`, which would let the next close stop the dog. */
const FOOD = "k";
const MAGIC = "V";

const NODE_CALLS: DeviceCalls = { open: openSync, write: (handle, byte) => writeSync(handle, byte), close: closeSync };

export function linuxWatchdog({ device, sysfs, calls = NODE_CALLS }: LinuxWatchdogOptions): WatchdogDevice {
  let handle: number | undefined;

  function look(): DeviceSight {
    try {
      const file = statSync(device);
      if (!file.isCharacterDevice()) return absent("not a character device", `${device} is none`);
      return describeDog(sysfs, file.rdev);
    } catch (error) {
      return absent(codeOf(error) === "ENOENT" ? "missing" : "failed", `looking at ${device}: ${reasonOf(error)}`);
    }
  }

  function open(acceptNowayout: boolean): Opening {
    if (handle !== undefined) return refused("busy", "it is open already");
    const before = look();
    if (before.kind === "absent") return refused(before.problem, before.because);
    if (before.nowayout && !acceptNowayout) return refused("nowayout", `${device} can't be stopped once it runs`);
    let opened: number;
    try {
      // Never with a create flag: where the module is missing that makes a plain file, and feeding it protects nobody.
      opened = calls.open(device, constants.O_WRONLY);
    } catch (error) {
      return refused(problemOf(error), `opening ${device}: ${reasonOf(error)}`);
    }
    if (!fstatSync(opened).isCharacterDevice()) {
      calls.close(opened);
      return refused("not a character device", `${device} is none any more`);
    }
    handle = opened;
    const sight = look();
    if (sight.kind === "present" && sight.running)
      return { kind: "opened", timeoutSeconds: sight.timeoutSeconds, nowayout: sight.nowayout };
    end(MAGIC);
    return refused("inactive", `${device} was opened, but sysfs doesn't say that it runs`);
  }

  /** @param byte written before the close. A write that fails shows in what sysfs says afterwards. */
  function end(byte?: string): void {
    const ending = handle;
    handle = undefined;
    if (ending === undefined) return;
    try {
      if (byte !== undefined) calls.write(ending, byte);
    } catch {
      // Closed all the same: the caller looks whether the dog still runs.
    } finally {
      calls.close(ending);
    }
  }

  return {
    look,
    open: ({ acceptNowayout }) => open(acceptNowayout),
    feed() {
      if (handle === undefined) return "it isn't open";
      try {
        return calls.write(handle, FOOD) === 1 ? undefined : "the kernel took nothing";
      } catch (error) {
        return reasonOf(error);
      }
    },
    disarm() {
      end(MAGIC);
      const sight = look();
      return sight.kind === "present" && sight.running;
    },
    abandon: () => end(),
  };
}

function problemOf(error: unknown): DeviceProblem {
  const code = codeOf(error);
  if (code === "EBUSY") return "busy";
  return code === "ENOENT" || code === "ENODEV" || code === "ENXIO" ? "missing" : "failed";
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}

function refused(problem: DeviceProblem, because: string): Opening & Unusable {
  return { kind: "refused", problem, because };
}
