/** The kernel's device as the agent meets it: /dev/null stands in for the character device, a folder for sysfs. */
import { closeSync, constants, mkdirSync, mkdtempSync, openSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type DeviceCalls, linuxWatchdog } from "../../../../node-agent/fencing/linux-watchdog.ts";
import { describeDog } from "../../../../node-agent/fencing/sysfs.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "nodekeeper-watchdog-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

interface Sysfs {
  readonly dev?: string;
  readonly state?: string;
  readonly timeout?: string;
  readonly nowayout?: string;
}

/** The numbers of /dev/null are 1:3. */
function sysfs(name: string, { dev = "1:3", state = "inactive", timeout = "60", nowayout = "0" }: Sysfs = {}): string {
  mkdirSync(join(folder, name), { recursive: true });
  const files = { dev, state, timeout, nowayout };
  for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, name, file), `${text}\n`);
  return folder;
}

/** The kernel's side: the open starts the dog, `V` right before the close stops it unless it is nowayout. */
function kernel({ fails, stays }: { fails?: string; stays?: "active" | "inactive" } = {}) {
  const done: string[] = [];
  const flags: number[] = [];
  const becomes = (state: "active" | "inactive") =>
    writeFileSync(join(folder, "watchdog7", "state"), `${stays ?? state}\n`);
  const calls: DeviceCalls = {
    open: (path, flag) => {
      flags.push(flag);
      if (fails !== undefined) throw Object.assign(new Error(`${fails}: as the test wants it`), { code: fails });
      becomes("active");
      return openSync(path, flag);
    },
    write: (_handle, byte) => {
      done.push(byte);
      return 1;
    },
    close: (handle) => {
      if (done.at(-1) === "V") becomes("inactive");
      done.push("close");
      closeSync(handle);
    },
  };
  return { calls, done, flags };
}

test("the dog behind a device file is found by its number", () => {
  sysfs("watchdog1", { dev: "1:5", timeout: "10" });
  const device = linuxWatchdog({ device: "/dev/null", sysfs: sysfs("watchdog7", { timeout: "45", nowayout: "1" }) });
  expect(device.look()).toEqual({ kind: "present", running: false, timeoutSeconds: 45, nowayout: true });
});

test("/dev/watchdog itself, which is 10:130, is the first dog", () => {
  sysfs("watchdog0", { dev: "248:0", timeout: "33" });
  expect(describeDog(folder, 10 * 256 + 130)).toMatchObject({ kind: "present", timeoutSeconds: 33 });
  expect(describeDog(folder, 248 * 256)).toMatchObject({ kind: "present", timeoutSeconds: 33 });
  expect(describeDog(folder, 248 * 256 + 1)).toMatchObject({ kind: "absent", problem: "no sysfs" });
});

test.each<[string, () => string]>([
  ["missing", () => join(folder, "nothing")],
  ["not a character device", () => join(sysfs("watchdog7"), "watchdog7", "dev")],
  ["no sysfs", () => "/dev/zero"],
])("%s is said, and nothing is made or opened", (problem, path) => {
  const device = path();
  const { calls, flags } = kernel();
  const dog = linuxWatchdog({ device, sysfs: folder, calls });
  expect(dog.look()).toMatchObject({ kind: "absent", problem });
  expect(dog.open({ acceptNowayout: true })).toMatchObject({ kind: "refused", problem });
  expect(flags).toEqual([]);
  if (problem === "missing") expect(() => statSync(device)).toThrow("ENOENT");
});

test.each([{ timeout: "0" }, { timeout: "a minute" }, { nowayout: "yes" }, { state: "asleep" }])(
  "sysfs that isn't understood is no dog: %o",
  (broken) => {
    const dog = linuxWatchdog({ device: "/dev/null", sysfs: sysfs("watchdog7", broken) });
    expect(dog.look()).toMatchObject({ kind: "absent", problem: "no sysfs" });
  },
);

test("it opens for writing only, never creates, feeds another byte than the magic one, and stops the dog by that", () => {
  const { calls, done, flags } = kernel();
  const dog = linuxWatchdog({ device: "/dev/null", sysfs: sysfs("watchdog7"), calls });
  expect(dog.open({ acceptNowayout: false })).toEqual({ kind: "opened", timeoutSeconds: 60, nowayout: false });
  expect(flags).toEqual([constants.O_WRONLY]);
  expect(dog.feed()).toBeUndefined();
  expect(dog.look()).toMatchObject({ running: true });
  expect(dog.disarm()).toBe(false);
  expect(done).toEqual(["k", "V", "close"]);
});

test("abandoning closes without the magic byte: the dog runs on", () => {
  const { calls, done } = kernel();
  const dog = linuxWatchdog({ device: "/dev/null", sysfs: sysfs("watchdog7"), calls });
  dog.open({ acceptNowayout: false });
  dog.abandon();
  expect([done, dog.look()]).toEqual([["close"], expect.objectContaining({ running: true })]);
  expect(dog.feed()).toBe("it isn't open");
});

test("a dog that runs on after the magic close is said", () => {
  const { calls } = kernel({ stays: "active" });
  const dog = linuxWatchdog({ device: "/dev/null", sysfs: sysfs("watchdog7", { nowayout: "1" }), calls });
  expect(dog.open({ acceptNowayout: true })).toMatchObject({ kind: "opened", nowayout: true });
  expect(dog.disarm()).toBe(true);
});

test("a dog that can't be stopped is opened only by who accepts that", () => {
  const { calls, flags } = kernel();
  const dog = linuxWatchdog({ device: "/dev/null", sysfs: sysfs("watchdog7", { nowayout: "1" }), calls });
  expect(dog.open({ acceptNowayout: false })).toMatchObject({ kind: "refused", problem: "nowayout" });
  expect(flags).toEqual([]);
});

test("an open that starts nothing is refused, and closed again", () => {
  const { calls, done } = kernel({ stays: "inactive" });
  const dog = linuxWatchdog({ device: "/dev/null", sysfs: sysfs("watchdog7"), calls });
  expect(dog.open({ acceptNowayout: false })).toMatchObject({ kind: "refused", problem: "inactive" });
  expect(done.at(-1)).toBe("close");
});

test.each([
  ["EBUSY", "busy"],
  ["ENODEV", "missing"],
  ["ENXIO", "missing"],
  ["EACCES", "failed"],
] as const)("%s from the kernel is %s", (fails, problem) => {
  const { calls } = kernel({ fails });
  const dog = linuxWatchdog({ device: "/dev/null", sysfs: sysfs("watchdog7"), calls });
  expect(dog.open({ acceptNowayout: false })).toMatchObject({ kind: "refused", problem });
  expect(dog.feed()).toBe("it isn't open");
});

test("a feed that the kernel doesn't take is said", () => {
  const { calls } = kernel();
  const broken: DeviceCalls = {
    ...calls,
    write: () => {
      throw new Error("EIO");
    },
  };
  const dog = linuxWatchdog({ device: "/dev/null", sysfs: sysfs("watchdog7"), calls: broken });
  dog.open({ acceptNowayout: false });
  expect(dog.feed()).toBe("EIO");
  expect(dog.disarm()).toBe(true);
});
