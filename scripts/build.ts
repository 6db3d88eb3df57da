/**
 * Makes the bundles that are deployed: those of the functions for Lambda, the relay's and the agents' for their images.
 * Tests load the same files, so what is tested is what runs.
 */
import { rm } from "node:fs/promises";
import { join, relative, resolve } from "node:path";
import { parseArgs } from "node:util";
import { build, type Plugin } from "esbuild";
import { type BundleSizes, sizesOf } from "./bundle-sizes.ts";

const ROOT = resolve(import.meta.dirname, "..");
export const DIST = join(ROOT, "dist");

/** Every program: where it starts, the name of its first file under dist/, and what kind of modules it is made of. */
const PROGRAMS = [
  { name: "drain-node", entry: "functions/drain-node/handler.ts", file: "handler", format: "esm" },
  { name: "fence-node", entry: "functions/fence-node/handler.ts", file: "handler", format: "esm" },
  { name: "relay", entry: "relay/main.ts", file: "main", format: "esm" },
  // CommonJS: an `import` of node:http evaluates all its exports, WebSocket's 14 MB among them; `require` doesn't.
  { name: "early-oom", entry: "node-agent/early-oom/main.ts", file: "main", format: "cjs" },
  { name: "fencing-agent", entry: "node-agent/fencing/main.ts", file: "main", format: "cjs" },
] as const;

export interface Bundle extends BundleSizes {
  readonly name: string;
  readonly directory: string;
  readonly entry: string;
}

interface Program {
  readonly name: string;
  /** Absolute path of its source. */
  readonly entry: string;
  /** Name of its first file, without extension. */
  readonly file: string;
  /** Default: ES modules, `.mjs`. CommonJS (`.cjs`) is one file. */
  readonly format?: "esm" | "cjs";
  /** Emptied first. */
  readonly directory: string;
}

interface BuildOptions {
  /** Where every program gets its folder; default: dist/. */
  readonly into?: string;
  /** Source maps beside the bundles; they are never deployed. */
  readonly sourcemap?: boolean;
}

/**
 * Builds every program, into dist/ unless told otherwise, and gives their sizes.
 * @throws the bundler's error, with file and line, if a program isn't there or doesn't compile.
 */
export async function buildBundles(options: BuildOptions = {}): Promise<readonly Bundle[]> {
  const { into = DIST } = options;
  return Promise.all(
    PROGRAMS.map((program) =>
      buildBundle({ ...program, entry: join(ROOT, program.entry), directory: join(into, program.name) }, options),
    ),
  );
}

/** Builds one program. */
export async function buildBundle(program: Program, { sourcemap = false }: BuildOptions = {}): Promise<Bundle> {
  const { format = "esm" } = program;
  const extension = format === "esm" ? "mjs" : "cjs";
  await rm(program.directory, { recursive: true, force: true });
  const { metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: [{ in: program.entry, out: program.file }],
    outdir: program.directory,
    outExtension: { ".js": `.${extension}` },
    chunkNames: "chunks/[name]-[hash]",
    bundle: true,
    platform: "node",
    target: "node24",
    format,
    // The EC2 client is loaded with `await import()`, by the few runs that ask EC2: it must stay a file of its own.
    splitting: format === "esm",
    // The SDK's ES modules, which can be shaken, before its CommonJS.
    mainFields: ["module", "main"],
    banner: { js: format === "esm" ? REQUIRE_FOR_COMMONJS : "" },
    plugins: [stubUndici],
    minify: true,
    // Errors are told apart by name in logs and alarms.
    keepNames: true,
    legalComments: "none",
    sourcemap: sourcemap ? "linked" : false,
    metafile: true,
    // What went wrong is in the error that is thrown.
    logLevel: "silent",
  });
  const entry = join(program.directory, `${program.file}.${extension}`);
  const sizes = sizesOf(metafile.outputs, relative(ROOT, entry));
  return { name: program.name, directory: program.directory, entry, ...sizes };
}

/** CommonJS packages inside an ES module still ask for `require`, `__filename` and `__dirname`. */
const REQUIRE_FOR_COMMONJS = [
  'import { createRequire as nodekeeperCreateRequire } from "node:module";',
  "const require = nodekeeperCreateRequire(import.meta.url);",
  "const __filename = import.meta.filename;",
  "const __dirname = import.meta.dirname;",
].join("");

/**
 * The Kubernetes client brings undici (0.7 MB) for its own transport, which we replace by node:https. Whoever reaches
 * for it all the same gets an error that says so.
 */
const stubUndici: Plugin = {
  name: "stub-undici",
  setup(bundler) {
    bundler.onResolve({ filter: /^undici$/ }, () => ({ path: "undici", namespace: "stub" }));
    bundler.onLoad({ filter: /.*/, namespace: "stub" }, () => ({
      contents: `module.exports = new Proxy({}, { get(_, name) {
        if (name === "__esModule") return false;
        return class { constructor() { throw new Error("undici is not part of this bundle: " + String(name)); } };
      } });`,
    }));
  },
};

/** One line per bundle for people. */
export function describeBundle(bundle: Bundle): string {
  const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(2)} MB`;
  const where = relative(ROOT, bundle.entry);
  return `${where}: ${megabytes(bundle.startBytes)} at start, ${megabytes(bundle.totalBytes)} in all`;
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { sourcemap: { type: "boolean" }, help: { type: "boolean" } } });
  if (values.help) console.log("usage: npm run build -- [--sourcemap]\n\nBuilds the deployed programs into dist/.");
  else
    for (const bundle of await buildBundles({ sourcemap: values.sourcemap ?? false }))
      console.log(describeBundle(bundle));
}
