/** Which modules of a kernel a guest gets, and what it is told about loading them. */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempDisposableSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";

const KERNEL_MODULES = resolve(import.meta.dirname, "../../../scripts/setup/kernel-modules.mjs");

interface Kernel {
  /** What each module needs, by its name, separated by commas. */
  readonly modules: Readonly<Record<string, string>>;
  /** Those in the kernel itself. */
  readonly builtIn?: readonly string[];
  /** As far as its name goes. */
  readonly compressed?: boolean;
  /** Whether the machine has an xz; this one only takes the ending off. */
  readonly xz?: boolean;
}

function take(wanted: readonly string[], { modules, builtIn, compressed = false, xz = false }: Kernel) {
  using folder = mkdtempDisposableSync(join(tmpdir(), "nodekeeper-modules-"));
  const [bin, source, target] = [
    join(folder.path, "bin"),
    join(folder.path, "kernel/drivers"),
    join(folder.path, "to"),
  ];
  for (const path of [bin, source, target]) mkdirSync(path, { recursive: true });
  for (const [name, depends] of Object.entries(modules)) {
    const path = join(source, `${name}.ko${compressed ? ".xz" : ""}`);
    writeFileSync(path, `\x7fELF\0license=GPL\0depends=${depends}\0name=${name}\0`);
  }
  const inKernel = builtIn?.map((name) => `kernel/drivers/${name}.ko\n`).join("");
  if (inKernel !== undefined) writeFileSync(join(folder.path, "kernel/modules.builtin"), inKernel);
  if (xz) writeFileSync(join(bin, "xz"), `#!/bin/sh\nexec /bin/mv "$2" "\${2%.xz}"\n`, { mode: 0o755 });
  const script = `
    import { takeModules } from ${JSON.stringify(KERNEL_MODULES)};
    await takeModules(...${JSON.stringify([join(folder.path, "kernel"), target, wanted])});`;
  const { status, stderr } = spawnSync(process.execPath, ["--input-type=module", "--eval", script], {
    env: { PATH: bin },
    encoding: "utf8",
  });
  const names = readdirSync(target).sort();
  const lines = (name: string) =>
    names.includes(name) ? readFileSync(join(target, name), "utf8").trimEnd().split("\n") : [];
  return {
    status,
    stderr,
    modules: names.filter((name) => name.endsWith(".ko")),
    list: lines("modules.dep"),
    inKernel: lines("modules.builtin"),
  };
}

const MODULES = { ring: "", base: "ring", card: "ring,base", dog: "kennel", kennel: "", unused: "base" };

describe("the modules of a guest's kernel", () => {
  it("are those that are wanted, and all that these need, however deep", () => {
    const { modules } = take(["card", "dog"], { modules: MODULES });
    expect(modules).toEqual(["base.ko", "card.ko", "dog.ko", "kennel.ko", "ring.ko"]);
  });

  it("are listed with what must be loaded before them, from the end of the line", () => {
    expect(take(["card", "dog"], { modules: MODULES }).list).toEqual([
      "card.ko: base.ko ring.ko",
      "ring.ko:",
      "base.ko: ring.ko",
      "dog.ko: kennel.ko",
      "kennel.ko:",
    ]);
  });

  it("are not taken where the kernel has them in itself", () => {
    const { modules, inKernel } = take(["base", "dog"], {
      modules: { dog: "kennel", kennel: "" },
      builtIn: ["base", "ring"],
    });
    expect(modules).toEqual(["dog.ko", "kennel.ko"]);
    expect(inKernel).toEqual(["base.ko"]);
  });

  it("may be compressed in the package", () => {
    const { modules, list } = take(["dog"], { modules: MODULES, compressed: true, xz: true });
    expect(modules).toEqual(["dog.ko", "kennel.ko"]);
    expect(list).toEqual(["dog.ko: kennel.ko", "kennel.ko:"]);
  });

  it("are told to need xz where they are compressed and it isn't there", () => {
    expect(take(["dog"], { modules: MODULES, compressed: true }).stderr).toMatch(/apt-get install xz-utils/);
  });

  it("are missed by name where the kernel lacks one", () => {
    const { status, stderr } = take(["dog"], { modules: { dog: "kennel" } });
    expect(status).not.toBe(0);
    expect(stderr).toMatch(/the guest's kernel has no module kennel/);
  });
});
