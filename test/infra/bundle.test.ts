/** The bundles: small enough for a cold start within a two-minute notice, and whole. */
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { mkdtempDisposable } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { buildBundle } from "../../scripts/build.ts";

const ROOT = resolve(import.meta.dirname, "../..");

describe.each(["drain-node", "fence-node"])("the bundle of %s", async (name) => {
  const folder = await mkdtempDisposable(join(tmpdir(), "nodekeeper-build-test-"));
  const bundle = await buildBundle({
    name,
    entry: join(ROOT, `functions/${name}/handler.ts`),
    file: "handler",
    directory: join(folder.path, name),
  });
  const text = (path: string) => readFileSync(join(bundle.directory, path), "utf8");
  afterAll(() => folder.remove());

  test("starts with at most 1.5 MB", () => {
    expect(statSync(bundle.entry).size).toBeLessThanOrEqual(1_500_000);
    expect(bundle.startBytes).toBeLessThanOrEqual(1_700_000);
  });

  test("keeps the EC2 client out of the start: few runs ask EC2", () => {
    expect(bundle.totalBytes - bundle.startBytes).toBeGreaterThan(500_000);
    const chunks = readdirSync(join(bundle.directory, "chunks"));
    expect(chunks.some((chunk) => text(`chunks/${chunk}`).includes("RunInstances"))).toBe(true);
    expect(text("handler.mjs").includes("RunInstances")).toBe(false);
  });

  test("leaves out undici, whose place is taken by our own transport", () => {
    expect(text("handler.mjs").includes("undici is not part of this bundle")).toBe(true);
  });

  test("holds no trace of the machine that built it", () => {
    expect(text("handler.mjs").includes(ROOT)).toBe(false);
  });
});

test("an agent is one file, and counted whole", async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), "nodekeeper-build-test-"));
  const bundle = await buildBundle({
    name: "fencing-agent",
    entry: join(ROOT, "node-agent/fencing/main.ts"),
    file: "main",
    format: "cjs",
    directory: join(folder.path, "fencing-agent"),
  });
  expect(readdirSync(bundle.directory)).toEqual(["main.cjs"]);
  const { size } = statSync(bundle.entry);
  expect([bundle.startBytes, bundle.totalBytes]).toEqual([size, size]);
  // Every byte is in memory on every node.
  expect(size).toBeLessThanOrEqual(100_000);
});

test("the same source gives the same bytes, wherever it is built to", async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), "nodekeeper-build-test-"));
  const entry = join(folder.path, "entry.ts");
  writeFileSync(entry, 'export const handler = async () => (await import("node:os")).EOL;\n');
  const build = (name: string) => buildBundle({ name, entry, file: "handler", directory: join(folder.path, name) });
  const [one, other] = [await build("one"), await build("other")];
  expect(readFileSync(one.entry, "utf8")).toBe(readFileSync(other.entry, "utf8"));
  expect(one.startBytes).toBe(statSync(one.entry).size);
});

test("a program that doesn't compile is no bundle", async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), "nodekeeper-build-test-"));
  const entry = join(folder.path, "broken.ts");
  writeFileSync(entry, 'import { nothing } from "./nowhere.ts";\nexport const handler = nothing;\n');
  const built = buildBundle({ name: "broken", entry, file: "handler", directory: join(folder.path, "out") });
  await expect(built).rejects.toThrow(/nowhere/);
});
