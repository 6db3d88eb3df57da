/**
 * Builds images from the repository's Dockerfiles without a container engine, and runs what is in them: buildah with
 * chroot isolation, its storage in a temporary folder. The base is made of the Node that runs the tests, since no
 * registry is asked for one.
 */
import { copyFile, link, mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import * as z from "zod";
import { buildBundles } from "../../scripts/build.ts";
import { programPath } from "../rig/parts.ts";
import { run } from "../rig/run.ts";

const REPOSITORY = join(import.meta.dirname, "../..");
/** As in the distroless images of Node. */
const NODE_IN_IMAGE = "/nodejs/bin/node";
const BASE = "localhost/nodekeeper-test-base";
/** It copies 150 MB several times, and the disk may be slow. */
const WITHIN_MILLISECONDS = 180_000;

export interface BuiltImage {
  readonly user: string;
  readonly entrypoint: readonly string[];
  readonly command: readonly string[];
  /** Files below /app. */
  readonly files: readonly string[];
  /** Runs the entry point with these arguments in the image, with nothing but this environment. */
  start(args: readonly string[], env?: Readonly<Record<string, string>>): Promise<Ended>;
}

export interface Ended {
  readonly exitCode: number;
  /** Standard output and error. */
  readonly output: string;
}

export interface ImageBuilder extends AsyncDisposable {
  /** @param dockerfile below the repository; the context is its bundles as they are built now, and its .dockerignore. */
  build(dockerfile: string): Promise<BuiltImage>;
}

const inspectedSchema = z.object({
  OCIv1: z.object({
    config: z.object({
      User: z.string().default(""),
      Entrypoint: z.array(z.string()).default([]),
      Cmd: z.array(z.string()).default([]),
    }),
  }),
});

/** @throws where buildah fails, with what it said. */
export async function startImageBuilder(): Promise<ImageBuilder> {
  const folder = await mkdtemp(join(tmpdir(), "nodekeeper-images-"));
  await using onFailure = new AsyncDisposableStack();
  onFailure.defer(() => rm(folder, { recursive: true, force: true }));

  const policy = join(folder, "policy.json");
  await writeFile(policy, JSON.stringify({ default: [{ type: "insecureAcceptAnything" }] }));
  const storage = ["--storage-driver", "vfs", "--root", join(folder, "root"), "--runroot", join(folder, "runroot")];
  const buildah = (command: string, ...args: readonly string[]) =>
    run(programPath("buildah"), [...storage, command, ...args], {
      env: { PATH: "/usr/sbin:/usr/bin:/sbin:/bin", HOME: folder, TMPDIR: folder },
      timeoutMilliseconds: WITHIN_MILLISECONDS,
    });
  const bud = (tag: string, dockerfile: string, context: string, ...more: readonly string[]) =>
    buildah(
      "bud",
      "--isolation",
      "chroot",
      "--signature-policy",
      policy,
      ...more,
      "-t",
      tag,
      "-f",
      dockerfile,
      context,
    );

  const context = join(folder, "context");
  // With source maps, which .dockerignore keeps out.
  await buildBundles({ into: join(context, "dist"), sourcemap: true });
  await copyFile(join(REPOSITORY, ".dockerignore"), join(context, ".dockerignore"));
  await bud(BASE, ...(await writeBase(join(folder, "base"))));
  const running = onFailure.move();

  return {
    async build(dockerfile) {
      const image = `localhost/nodekeeper-test-${dockerfile.replaceAll(/[^a-z]+/gi, "-").toLowerCase()}`;
      await bud(image, join(REPOSITORY, dockerfile), context, "--pull=never", "--build-arg", `BASE_IMAGE=${BASE}`);
      const { User, Entrypoint, Cmd } = inspectedSchema.parse(
        JSON.parse(await buildah("inspect", "--type", "image", image)),
      ).OCIv1.config;
      const container = (await buildah("from", "--pull-never", "--signature-policy", policy, image)).trim();
      const inside = (env: Readonly<Record<string, string>>, ...command: readonly string[]) => {
        const given = Object.entries(env).flatMap(([name, value]) => ["--env", `${name}=${value}`]);
        return buildah("run", "--isolation", "chroot", ...given, container, "--", ...command);
      };
      return {
        user: User,
        entrypoint: Entrypoint,
        command: Cmd,
        files: z
          .array(z.string())
          .parse(JSON.parse(await inside({}, ...Entrypoint, "-p", LIST_APP)))
          .toSorted(),
        async start(args, env = {}) {
          const output = await inside(env, ...Entrypoint, "-e", START, "--", ...args);
          return z.object({ exitCode: z.int(), output: z.string() }).parse(JSON.parse(output));
        },
      };
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

/** The image has no shell and no ls. */
const LIST_APP = `JSON.stringify(fs.readdirSync("/app", { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile()).map((entry) => entry.parentPath + "/" + entry.name))`;

/** Starts Node in the image once more, so that an exit code is a value and not buildah's own fault. */
const START = `const { status, stdout, stderr } = child_process.spawnSync(process.execPath, process.argv.slice(1),
  { encoding: "utf8", timeout: 30000 });
  console.log(JSON.stringify({ exitCode: status ?? -1, output: stdout + stderr }));`;

/** Node and the libraries that it is linked with, from scratch: Dockerfile and context. */
async function writeBase(folder: string): Promise<readonly [string, string]> {
  const node = await realpath(process.execPath);
  const libraries = (await run("/usr/bin/ldd", [node], { env: { PATH: "/usr/bin:/bin" } }))
    .split("\n")
    .flatMap((line) => /(?:=> )?(\/\S+) \(0x/.exec(line)?.[1] ?? []);
  for (const [from, to] of [[node, NODE_IN_IMAGE] as const, ...libraries.map((path) => [path, path] as const)]) {
    const target = join(folder, "files", to);
    await mkdir(dirname(target), { recursive: true });
    // A hard link where the disk is the same one, else a copy.
    await link(await realpath(from), target).catch(() => copyFile(from, target));
  }
  const dockerfile = join(folder, "Dockerfile");
  await writeFile(dockerfile, `FROM scratch\nCOPY files/ /\nENTRYPOINT ["${NODE_IN_IMAGE}"]\n`);
  return [dockerfile, folder];
}
