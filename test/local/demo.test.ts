/** The demo as people run it: a process of its own, its output in a file or a pipe. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempDisposable, readdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { describeReal } from "../rig/real-parts.ts";

const MAIN = join(import.meta.dirname, "../demo/main.ts");
/** A demo that hangs is killed; its programs go with it. */
const LONGEST_MILLISECONDS = 200_000;

interface Run {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** What is left in its folder for temporary files. */
  readonly leftBehind: readonly string[];
}

interface Play {
  /** Ctrl-C as soon as this is read. */
  readonly interruptAt?: string;
}

async function runDemo(args: readonly string[], { interruptAt }: Play = {}): Promise<Run> {
  await using folder = await mkdtempDisposable(join(tmpdir(), "nodekeeper-demo-test-"));
  const { CI: _, ...inherited } = process.env;
  const child = spawn(process.execPath, [MAIN, ...args], {
    env: { ...inherited, TMPDIR: folder.path },
    stdio: ["ignore", "pipe", "pipe"],
    timeout: LONGEST_MILLISECONDS,
    killSignal: "SIGKILL",
  });
  const said = { stdout: "", stderr: "" };
  let interrupted = false;
  child.stdout.on("data", (chunk) => {
    said.stdout += chunk;
    if (interrupted || interruptAt === undefined || !said.stdout.includes(interruptAt)) return;
    interrupted = true;
    child.kill("SIGINT");
  });
  child.stderr.on("data", (chunk) => {
    said.stderr += chunk;
  });
  const [exitCode] = await once(child, "close");
  return { ...said, exitCode, leftBehind: await readdir(folder.path) };
}

describeReal("the demo", ["emulator"], () => {
  let run: Run;

  beforeAll(async () => {
    run = await runDemo([]);
  }, LONGEST_MILLISECONDS);

  it("drains every interrupted node and says so by its exit code", () => {
    expect(`${run.stdout}${run.stderr}`).toContain("demo passed: 3 of 3 nodes drained in time");
    expect(run.exitCode).toBe(0);
  });

  it("tells each change with the seconds since the notice", () => {
    for (const node of ["node-01", "node-02", "node-03"]) {
      for (const change of ["cordoned", "draining", "pods left: 0", "drained"]) {
        expect(run.stdout).toMatch(new RegExp(`^\\d\\d:\\d\\d:\\d\\d +\\+\\d+\\.\\d s  ${node}  ${change}$`, "m"));
      }
    }
  });

  it("shows what blocks, and what was done about it", () => {
    expect(run.stdout).toContain("node-01  shop/checkout-0 blocked by budget checkout-budget");
    expect(run.stdout).toContain("node-01  shop/checkout-0 deleted past budget checkout-budget");
  });

  it("sums up each node, and everything else", () => {
    expect(run.stdout).toMatch(
      /^node-01 {2}drained .* shop\/checkout-0 past budget checkout-budget \(refused for \d+ s\)/m,
    );
    expect(run.stdout).toMatch(/^node-02 {2}drained {2}\d+\.\d s +\d+\.\d s +\d+\.\d s +-$/m);
    expect(run.stdout).toMatch(/^other nodes +7 of 7 untouched$/m);
    expect(run.stdout).toMatch(/^dead letters +0$/m);
    expect(run.stdout).toMatch(/^queue +empty$/m);
  });

  it("writes no escape code where there is no terminal", () => {
    expect(run.stdout).not.toContain("\u001b");
  });

  it("leaves nothing behind", () => {
    expect(run.leftBehind).toEqual([]);
  });

  it.each([
    ["during the set-up", "cdk bootstrap"],
    ["in the middle of a drain", "cordoned"],
  ])("ends all that it started on Ctrl-C %s", async (_, interruptAt) => {
    const { exitCode, leftBehind, stdout } = await runDemo(["--nodes", "2", "--pods", "4"], { interruptAt });
    expect(stdout).toContain("ending everything that was started");
    expect(exitCode).toBe(130);
    expect(leftBehind).toEqual([]);
  });
});

describe("the demo's command line", () => {
  it("explains every option", async () => {
    const { exitCode, stdout } = await runDemo(["--help"]);
    expect(exitCode).toBe(0);
    for (const option of ["--nodes", "--pods", "--interrupt", "--cluster", "--keep"]) expect(stdout).toContain(option);
  });

  it("refuses a bad value with the option's name, before anything is started", async () => {
    const { exitCode, stderr, stdout } = await runDemo(["--nodes", "many"]);
    expect(exitCode).toBe(2);
    expect(stderr).toContain('--nodes: "many"');
    expect(stdout).toBe("");
  });
});
