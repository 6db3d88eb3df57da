/** Nothing that a test starts may outlive it, however the test ends. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startProgram } from "../../rig/processes.ts";
import { waitUntil } from "../../rig/wait.ts";

describe("programs of the rig", () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "nodekeeper-processes-"));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  const shell = (script: string) => ({
    name: "a script",
    command: "/bin/sh",
    args: ["-c", script],
    env: { PATH: "/usr/bin:/bin" },
    logFile: join(folder, "log"),
  });

  it("end when they are stopped, even if they ignore SIGTERM", { timeout: 20_000 }, async () => {
    const program = await startProgram(shell("trap '' TERM; while true; do sleep 0.2; done"));
    expect(isAlive(program.pid)).toBe(true);
    await program.stop();
    expect(isAlive(program.pid)).toBe(false);
  });

  it("take along what they started themselves", async () => {
    const program = await startProgram(shell("sleep 300 & wait"));
    await program.stop();
    await waitUntil("the group is empty", () => !isAlive(-program.pid), { withinMilliseconds: 2000 });
  });

  it("say in their log why they didn't start", async () => {
    const start = { ...shell("echo no such luck; exit 3"), isReady: async () => false };
    await expect(startProgram(start)).rejects.toThrow(/no such luck/);
  });

  it("are given up on when they don't get ready in time", async () => {
    const start = { ...shell("sleep 300"), isReady: async () => false, readyWithinMilliseconds: 300 };
    await expect(startProgram(start)).rejects.toMatchObject({ cause: { message: /not within 300 ms/ } });
  });

  it("die with the process that started them, even if that is killed", async () => {
    const module = JSON.stringify(join(import.meta.dirname, "../../rig/processes.ts"));
    const start = JSON.stringify(shell("sleep 300 & wait"));
    const script = `import { startProgram } from ${module};
      console.log((await startProgram(${start})).pid);
      setInterval(() => {}, 1000);`;
    const parent = spawn(process.execPath, ["--input-type=module-typescript", "--eval", script], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const [line] = await once(createInterface({ input: parent.stdout }), "line");
    const pid = Number(line);
    expect(isAlive(pid)).toBe(true);
    parent.kill("SIGKILL");
    await waitUntil("its program is gone", () => !isAlive(-pid), { withinMilliseconds: 5000 });
  });
});

/** A negative number asks for a process group. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
