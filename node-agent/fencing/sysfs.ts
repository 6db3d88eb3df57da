/** What sysfs says of the dog behind a device file. Without it nobody knows W, and a dog of unknown W is not armed. */
import { readdirSync, readFileSync } from "node:fs";
import { reasonOf } from "../log.ts";
import type { DeviceProblem, DeviceSight } from "./device.ts";

/** /dev/watchdog is the misc device 10:130, another name of the first dog: include/linux/miscdevice.h */
const FIRST_DOG = "10:130";

/** @param rdev of the device file, as stat gives it. */
export function describeDog(sysfs: string, rdev: number): DeviceSight {
  const number = numberOf(rdev);
  const name = number === FIRST_DOG ? "watchdog0" : findByNumber(sysfs, number);
  if (name === undefined) return absent("no sysfs", `no watchdog under ${sysfs} has the number ${number}`);
  return readSysfs(`${sysfs}/${name}`);
}

export function absent(problem: DeviceProblem, because: string): DeviceSight {
  return { kind: "absent", problem, because };
}

/** In every kernel with CONFIG_WATCHDOG_SYSFS: Documentation/ABI/testing/sysfs-class-watchdog. */
function readSysfs(folder: string): DeviceSight {
  try {
    const read = (file: string) => readFileSync(`${folder}/${file}`, "utf8").trim();
    const [timeout, nowayout, state] = [read("timeout"), read("nowayout"), read("state")];
    if (!/^[1-9]\d{0,6}$/.test(timeout) || !/^[01]$/.test(nowayout) || !/^(in)?active$/.test(state))
      return absent("no sysfs", `${folder} isn't understood: timeout ${timeout}, nowayout ${nowayout}, state ${state}`);
    return {
      kind: "present",
      running: state === "active",
      timeoutSeconds: Number(timeout),
      nowayout: nowayout === "1",
    };
  } catch (error) {
    return absent("no sysfs", `reading ${folder}: ${reasonOf(error)}`);
  }
}

/** Name of the dog with this device number, such as `watchdog0`. */
function findByNumber(sysfs: string, number: string): string | undefined {
  return namesIn(sysfs).find((name) => {
    try {
      return readFileSync(`${sysfs}/${name}/dev`, "utf8").trim() === number;
    } catch {
      return false;
    }
  });
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** `major:minor` as Linux packs them into one number. */
function numberOf(rdev: number): string {
  return `${(rdev >>> 8) & 0xfff}:${(rdev & 0xff) | ((rdev >>> 12) & 0xfff00)}`;
}
