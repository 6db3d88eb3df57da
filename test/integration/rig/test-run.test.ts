/** The count at the end of a run is believed by machines: it must not call a success what is none. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { run } from "../../rig/run.ts";

const TEST_RUN = join(import.meta.dirname, "../../../scripts/test-run.ts");

describe("the count of a test run", () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "nodekeeper-test-run-"));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  it("tells what passed, failed and was skipped", async () => {
    const file = `it("a", () => {}); it("b", () => {}); it("c", () => { throw new Error(); }); it.skip("d", () => {});`;
    expect(await countOf({ "some.test.js": file })).toEqual({ passed: 2, failed: 1, skipped: 1 });
  });

  it("names a suite that is skipped as a whole", async () => {
    await writeFiles({
      "some.test.js": `it("a", () => {}); describe.skip("real parts (no etcd)", () => it("b", () => {}));`,
    });
    expect(await output()).toContain("\nskipped: real parts (no etcd)\n");
  });

  it("counts a file that can't be loaded as failed", async () => {
    const files = { "broken.test.js": `import "./absent.js";`, "good.test.js": `it("a", () => {});` };
    expect(await countOf(files)).toEqual({ passed: 1, failed: 1, skipped: 0 });
  });

  it("counts a set-up that throws as failed, though its tests are only skipped", async () => {
    const file = `describe("s", () => { beforeAll(() => { throw new Error(); }); it("a", () => {}); });`;
    expect(await countOf({ "hook.test.js": file })).toMatchObject({ passed: 0, failed: 1 });
  });

  it("counts an error that nobody caught as failed", async () => {
    const file = `it("a", async () => { setTimeout(() => { throw new Error("late"); }, 1); await new Promise((r) => setTimeout(r, 50)); });`;
    expect(await countOf({ "late.test.js": file })).toEqual({ passed: 1, failed: 1, skipped: 0 });
  });

  it("calls a run without any test failed", async () => {
    expect(await countOf({})).toMatchObject({ passed: 0, failed: 1 });
    expect(await countOf({ "skipped.test.js": `it.skip("a", () => {});` })).toMatchObject({ passed: 0, failed: 1 });
  });

  async function countOf(files: Readonly<Record<string, string>>): Promise<unknown> {
    await writeFiles(files);
    return JSON.parse((await output()).split("\n").at(-1) ?? "");
  }

  async function writeFiles(files: Readonly<Record<string, string>>): Promise<void> {
    const config = "export default { test: { globals: true } };";
    const all = { "vitest.config.mjs": config, ...files };
    for (const [name, content] of Object.entries(all)) await writeFile(join(folder, name), content);
  }

  /** In a process of its own: a failing run sets its process's exit code. */
  function output(): Promise<string> {
    const script = `import { runTests } from ${JSON.stringify(TEST_RUN)};
      const counts = await runTests(["--root=${folder}"]);
      process.stdout.write("\\n" + JSON.stringify(counts), () => process.exit(0));`;
    const env = { PATH: dirname(process.execPath), HOME: folder, TMPDIR: folder };
    const options = { env, cwd: folder, timeoutMilliseconds: 30_000 };
    return run(process.execPath, ["--input-type=module-typescript", "--eval", script], options);
  }
});
