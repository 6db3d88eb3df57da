/** Which starts count as crashes, over restarts, boots, clock jumps and broken files. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { CRASH_BUDGET } from "../../../../node-agent/fencing/aim.ts";
import { crashFile } from "../../../../node-agent/fencing/crashes.ts";

let folder: string;
let path: string;
let uptime: number;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "nodekeeper-crashes-"));
  path = join(folder, "state", "starts.json");
  uptime = 100;
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const newProcess = (bootId = "boot-1") => crashFile({ path, bootId, uptimeSeconds: () => uptime });

/** One life of the process. */
function live({ seconds, cleanly = false }: { seconds: number; cleanly?: boolean }) {
  const file = newProcess();
  const count = file.noteStart();
  uptime += seconds;
  if (cleanly) file.noteCleanEnd();
  return count;
}

test("the first start of all has no crash behind it", () => {
  expect(live({ seconds: 5 })).toEqual({ kind: "counted", crashes: 0, calmInMs: 0 });
});

test("a process that didn't say goodbye crashed", () => {
  live({ seconds: 5 });
  expect(live({ seconds: 5 })).toEqual({ kind: "counted", crashes: 1, calmInMs: 900_000 });
  expect(live({ seconds: 5 })).toMatchObject({ crashes: 2 });
});

test("clean ends don't count, and a clean end doesn't hide the crashes before it", () => {
  live({ seconds: 5 });
  live({ seconds: 5 });
  live({ seconds: 40, cleanly: true });
  expect(live({ seconds: 5, cleanly: true })).toEqual({ kind: "counted", crashes: 2, calmInMs: 860_000 });
  uptime += 900;
  expect(live({ seconds: 5 })).toEqual({ kind: "counted", crashes: 0, calmInMs: 0 });
});

test("a crash counts from when it was noticed, however long the process had run", () => {
  live({ seconds: 100_000 });
  expect(live({ seconds: 1 })).toMatchObject({ crashes: 1 });
});

/** The kubelet waits for 10 s, 20 s, ... up to 300 s, unless the process had lived for 600 s. */
test.each([1, 60, 240, 360, 599])(
  "crashes after %i s of life each are one loop, however long the kubelet waits",
  (seconds) => {
    const counts = [10, 20, 40, 80, 160, 300, 300, 300].map((backOff) => {
      const { crashes } = { crashes: 0, ...live({ seconds }) };
      uptime += backOff;
      return crashes;
    });
    expect(counts.slice(2).filter((crashes) => crashes < CRASH_BUDGET)).toEqual([]);
  },
);

test("a reset of the node isn't a crash", () => {
  live({ seconds: 50 });
  live({ seconds: 50 });
  uptime = 20;
  expect(newProcess("boot-2").noteStart()).toMatchObject({ crashes: 0 });
});

test.each([
  "",
  "{",
  "[]",
  '{"v":2,"bootId":"boot-1","starts":[]}',
  '{"v":1,"bootId":"boot-1","starts":[{"atSeconds":"5","endedCleanly":true}]}',
  '{"v":1,"bootId":"boot-1","starts":[{"atSeconds":1e9,"endedCleanly":true}]}',
])("a file that isn't understood is taken for a crash loop, and replaced: %s", (text) => {
  mkdirSync(join(folder, "state"));
  writeFileSync(path, text);
  expect(live({ seconds: 5, cleanly: true })).toMatchObject({
    crashes: 2,
    calmInMs: 900_000,
    distrusted: expect.any(String),
  });
  expect(live({ seconds: 5 })).toMatchObject({ crashes: 0 });
});

test("a start that can't be noted is not a start without crashes", () => {
  writeFileSync(join(folder, "state"), "a file where a folder should be");
  expect(live({ seconds: 5 })).toMatchObject({ kind: "unknown", because: expect.stringContaining("starts.json") });
  rmSync(join(folder, "state"));
  expect(live({ seconds: 5 })).toMatchObject({ kind: "counted", crashes: 0 });
});

test("a folder that can't be made is said at once", () => {
  const file = crashFile({ path: "/proc/nodekeeper/starts.json", bootId: "boot-1", uptimeSeconds: () => uptime });
  expect(file.noteStart()).toMatchObject({ kind: "unknown", because: expect.stringContaining("ENOENT") });
});

test("the file stays small, and nothing lies beside it", () => {
  for (let index = 0; index < 50; index += 1) live({ seconds: 1 });
  expect(readFileSync(path, "utf8").length).toBeLessThan(2_000);
  expect(readdirSync(join(folder, "state"))).toEqual(["starts.json"]);
  expect(live({ seconds: 1 })).toMatchObject({ crashes: 20 });
});
