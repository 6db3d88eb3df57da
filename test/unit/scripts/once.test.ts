/** Two set-ups at a time, or one after another that was killed: each thing is installed by one of them. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempDisposableSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { expect, it } from "vitest";

const ONCE = resolve(import.meta.dirname, "../../../scripts/setup/once.mjs");
/** No process has it: Linux gives out at most 4,194,304. */
const DEAD_PID = 99_999_999;

it("of several set-ups that find the lock of a dead one, one at a time goes on", async () => {
  using folder = mkdtempDisposableSync(join(tmpdir(), "nodekeeper-once-"));
  const lock = join(folder.path, "nodekeeper/locks/thing");
  mkdirSync(lock, { recursive: true });
  writeFileSync(join(lock, String(DEAD_PID)), "");
  const log = join(folder.path, "log");
  // Nothing counts as done, so that each of them gets its turn.
  const script = `
    import { appendFileSync } from "node:fs";
    import { setTimeout as sleep } from "node:timers/promises";
    import { once } from ${JSON.stringify(ONCE)};
    await once("thing", () => false, async () => {
      appendFileSync(${JSON.stringify(log)}, "begin ");
      await sleep(20);
      appendFileSync(${JSON.stringify(log)}, "end ");
    });`;
  const env = { XDG_CACHE_HOME: folder.path };
  const setUps = Array.from({ length: 3 }, () =>
    spawn(process.execPath, ["--input-type=module", "--eval", script], { env, stdio: "ignore" }),
  );
  const codes = await Promise.all(setUps.map(async (child) => (await once(child, "close"))[0]));

  expect(codes).toEqual([0, 0, 0]);
  expect(readFileSync(log, "utf8")).toBe("begin end begin end begin end ");
  expect(readdirSync(join(lock, ".."))).toEqual([]);
});
