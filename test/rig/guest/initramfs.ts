/**
 * What a guest has in its memory when it boots: an archive of the big programs, which all guests share and which is made
 * once, and after it a small one of this guest's own files. The kernel unpacks one after the other.
 * https://docs.kernel.org/driver-api/early-userspace/buffer-format.html
 */
import { createHash } from "node:crypto";
import { createReadStream, createWriteStream, existsSync } from "node:fs";
import {
  chmod,
  constants,
  copyFile,
  mkdir,
  mkdtempDisposable,
  readdir,
  realpath,
  rename,
  symlink,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { pipeline } from "node:stream/promises";
import { programPath } from "../parts.ts";
import { run } from "../run.ts";

const NODE = join(import.meta.dirname, "../../../node_modules/.bin/node");
const SYSTEM_PATH = { PATH: "/usr/sbin:/usr/bin:/sbin:/bin" };

export type GuestFile = ({ readonly from: string } | { readonly content: string }) & {
  /** Absolute path in the guest. */
  readonly to: string;
  /** Default: 0o644. */
  readonly mode?: number;
};

/** Writes the whole of it to `target`. Not compressed: unpacking would take the emulated processor longer than reading. */
export async function writeInitramfs(target: string, files: readonly GuestFile[]): Promise<void> {
  await using staging = await mkdtempDisposable(join(tmpdir(), "nodekeeper-initramfs-"));
  const [tree, own] = [join(staging.path, "tree"), join(staging.path, "own.cpio")];
  for (const file of files) await place(tree, file);
  await archive(tree, own);
  await copyFile(await baseArchive(), target, constants.COPYFILE_FICLONE);
  await pipeline(createReadStream(own), createWriteStream(target, { flags: "a" }));
}

async function place(tree: string, file: GuestFile): Promise<void> {
  const path = join(tree, file.to);
  await mkdir(dirname(path), { recursive: true });
  if ("from" in file) await copyFile(file.from, path);
  else await writeFile(path, file.content);
  await chmod(path, file.mode ?? 0o644);
}

let base: Promise<string> | undefined;

/** Made once, also where two guests start at the same time: the one must not read what the other still writes. */
function baseArchive(): Promise<string> {
  base ??= makeBaseArchive();
  return base;
}

/** Node with its libraries, busybox, and the kernel's modules: beside the kernel, named by the hash of what is in it. */
async function makeBaseArchive(): Promise<string> {
  const kernel = programPath("guest-kernel");
  const contents = await baseContents(kernel);
  const path = join(kernel, `base-${await hashOf(contents)}.cpio`);
  if (existsSync(path)) return path;

  await using staging = await mkdtempDisposable(join(tmpdir(), "nodekeeper-initramfs-"));
  for (const [to, from] of contents) {
    await mkdir(dirname(join(staging.path, to)), { recursive: true });
    await symlink(from, join(staging.path, to));
  }
  await mkdir(join(staging.path, "lib/modules"), { recursive: true });
  const partial = `${path}.${process.pid}`;
  await archive(staging.path, partial);
  await rename(partial, path);
  return path;
}

/** Where each file is to be in the guest, and where it is here. */
async function baseContents(kernel: string): Promise<ReadonlyMap<string, string>> {
  const modules = join(kernel, "modules");
  const [node, names] = await Promise.all([realpath(NODE), readdir(modules)]);
  const libraries = (await run("ldd", [node], { env: SYSTEM_PATH })).matchAll(/(\/\S+) \(0x/g);
  return new Map([
    ["/bin/node", node],
    ["/bin/busybox", programPath("busybox")],
    ...[...libraries].map(([, path = ""]): [string, string] => [path, path]),
    ...names.sort().map((name): [string, string] => [join("/guest/modules", name), join(modules, name)]),
  ]);
}

async function hashOf(contents: ReadonlyMap<string, string>): Promise<string> {
  const hash = createHash("sha256");
  for (const [to, from] of contents) {
    hash.update(`${to}\n`);
    for await (const chunk of createReadStream(from)) hash.update(chunk);
  }
  return hash.digest("hex").slice(0, 16);
}

/** All of `tree` as root's own, with links replaced by what they lead to. */
async function archive(tree: string, target: string): Promise<void> {
  const entries = await readdir(tree, { recursive: true, withFileTypes: true });
  // A folder comes before what is in it.
  const names = entries.map(({ parentPath, name }) => relative(tree, join(parentPath, name))).sort();
  const args = ["--create", "--format=newc", "--owner=0:0", "--dereference", "--quiet", "--file", target];
  await run(programPath("cpio"), args, { cwd: tree, env: SYSTEM_PATH, input: `${names.join("\n")}\n` });
}
