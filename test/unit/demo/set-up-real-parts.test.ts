/** `--cluster real` on a machine that has no Kubernetes programs and can't build them. */
import { spawnSync } from "node:child_process";
import { mkdtempDisposableSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { expect, it } from "vitest";

const MAIN = resolve(import.meta.dirname, "../../demo/main.ts");

it("the demo sets up its real parts itself, and names what that takes before it starts anything", () => {
  using folder = mkdtempDisposableSync(join(tmpdir(), "nodekeeper-real-parts-"));
  const env = { PATH: folder.path, HOME: folder.path, XDG_CACHE_HOME: folder.path };
  const run = spawnSync(process.execPath, [MAIN, "--cluster", "real"], { env, encoding: "utf8" });
  expect(run.status).toBe(1);
  expect(run.stderr).toMatch(/- Go 1\.26 or newer, to build etcd, .*kubectl once/);
  expect(run.stdout).not.toContain("starting");
});
