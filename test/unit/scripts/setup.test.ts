/** What the set-up says on a machine that lacks something: all of it at once, before anything is installed. */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempDisposableSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";

const SETUP = resolve(import.meta.dirname, "../../../scripts/setup.mjs");
const HAS_GUESTS = process.platform === "linux" && process.arch === "x64";
const KUBERNETES = ["kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl"];

interface Machine {
  /** Programs by name, with what they print; there are no others. */
  readonly programs?: Readonly<Record<string, string>>;
  readonly ci?: boolean;
}

function setUp(mode: string, { programs = {}, ci = false }: Machine = {}) {
  using folder = mkdtempDisposableSync(join(tmpdir(), "nodekeeper-setup-"));
  const bin = join(folder.path, "bin");
  mkdirSync(bin);
  for (const [name, printed] of Object.entries(programs)) {
    writeFileSync(join(bin, name), `#!/bin/sh\necho '${printed}'\n`, { mode: 0o755 });
  }
  const env = { PATH: bin, HOME: folder.path, XDG_CACHE_HOME: folder.path, ...(ci && { CI: "true" }) };
  const { status, stderr } = spawnSync(process.execPath, [SETUP, mode], { env, encoding: "utf8" });
  return { status, said: stderr };
}

describe("on a machine that lacks what is needed, the set-up", () => {
  it("names all of it at once, each with its use, and installs nothing", () => {
    const { status, said } = setUp("test", { ci: true });
    expect(status).toBe(1);
    expect(said).toMatch(/- npm, to install packages\n/);
    expect(said).toMatch(/- Python 3\.10 or newer .*, for the AWS emulator/);
    expect(said).toMatch(/- Go 1\.26 or newer, to build etcd, .*kubectl once, for a real Kubernetes control plane/);
    expect(said).not.toMatch(/installing/);
  });

  it.runIf(HAS_GUESTS)("names what guests and images are made with, with the one command that installs it", () => {
    const command = "apt-get install -y --no-install-recommends";
    const all = "qemu-system-x86 busybox-static cpio buildah";
    const lack = `qemu, busybox, cpio, buildah, for a kernel and images of their own in the tests (on Debian: ${command} ${all})`;
    expect(setUp("test", { ci: true }).said).toContain(`  - ${lack}\n`);
    expect(setUp("test").said).toContain(
      `setup: this machine lacks ${lack}; suites that need them will be skipped, by name\n`,
    );
    const some = setUp("test", { programs: { "qemu-system-x86_64": "", cpio: "" } }).said;
    expect(some).toContain(`(on Debian: ${command} busybox-static buildah)`);
    expect(setUp("demo").said).not.toMatch(/qemu/);
  });

  it.runIf(HAS_GUESTS)("takes no busybox that needs libraries", () => {
    const programs = { busybox: "", ldd: "libc.so.6 => /lib/libc.so.6 (0x1)" };
    expect(setUp("test", { programs }).said).toMatch(/this machine lacks qemu, busybox, cpio/);
  });

  it("names Go as well where tests may be skipped without it", () => {
    const { said } = setUp("test");
    expect(said).toMatch(/^setup: this machine lacks Go 1\.26 or newer, to build etcd.*skipped, by name\n/);
  });

  it("says how old a Go is that can't build Kubernetes", () => {
    expect(setUp("real-demo", { programs: { go: "go1.25.4" } }).said).toMatch(/- Go 1\.26 or newer \(this is 1\.25\)/);
    expect(setUp("real-demo", { programs: { go: "go1.26.1" } }).said).not.toMatch(/Go 1\.26/);
  });

  it("asks for no Go where the programs are there already, or aren't used", () => {
    const programs = {
      etcd: "etcd Version: 3.6.16",
      kwok: "kwok version v0.7.0 go1.24",
      ...Object.fromEntries(KUBERNETES.map((name) => [name, "Kubernetes v1.36.3"])),
    };
    expect(setUp("test", { programs, ci: true }).said).not.toMatch(/Go 1\.26/);
    expect(setUp("demo").said).not.toMatch(/Go 1\.26/);
    expect(setUp("check").said).toBe("setup: this machine lacks:\n  - npm, to install packages\n");
  });
});
