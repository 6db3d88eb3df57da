/** The npm scripts set themselves up: on a fresh clone the Node 24 that runs a program comes only with the packages. */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempDisposableSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import * as z from "zod";

const ROOT = resolve(import.meta.dirname, "../../..");
const { scripts } = z
  .object({ scripts: z.record(z.string(), z.string()) })
  .parse(JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")));
const setUpFirst = Object.entries(scripts).filter(([, command]) => command.includes("setup.mjs "));

/** In either of them a path once found may be remembered; /bin/sh is one or the other. */
const shells = ["dash", "bash"].filter((shell) => spawnSync(shell, ["-c", ":"]).status === 0);

describe("an npm script that sets up first", () => {
  it("is each of those that need packages", () => {
    expect(setUpFirst.map(([name]) => name)).toEqual(["demo", "test", "check", "synth", "bench"]);
  });

  it.each(setUpFirst)("%s runs on the Node that its own set-up brought", (_, command) => {
    expect(shells).not.toEqual([]);
    for (const shell of shells) expect(`${shell}: ${lastNodeOf(shell, command)}`).toBe(`${shell}: from the packages`);
  });
});

/** Runs `command` where the machine's Node only brings another one, which comes earlier on the search path. */
function lastNodeOf(shell: string, command: string): string {
  using folder = mkdtempDisposableSync(join(tmpdir(), "nodekeeper-scripts-"));
  const [packages, machine] = [join(folder.path, "packages"), join(folder.path, "machine")];
  const brought = join(folder.path, "brought");
  for (const path of [packages, machine]) mkdirSync(path);
  writeFileSync(brought, "#!/bin/sh\necho from the packages\n", { mode: 0o755 });
  const install = `[ -f ${packages}/node ] && echo of the machine || cp ${brought} ${packages}/node`;
  writeFileSync(join(machine, "node"), `#!/bin/sh\n${install}\n`, { mode: 0o755 });
  const env = { PATH: `${packages}:${machine}:/usr/bin:/bin` };
  return spawnSync(shell, ["-c", command], { env, encoding: "utf8" }).stdout.trim();
}
