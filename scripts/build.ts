/**
 * Makes the bundles that are deployed: dist/drain-node for Lambda and dist/relay for the relay's image. Tests load the
 * same files, so what is tested is what runs.
 */
import { rm } from "node:fs/promises";
import { join, relative, resolve } from "node:path";
import { parseArgs } from "node:util";
import { build, type Plugin } from "esbuild";
import { type BundleSizes, sizesOf } from "./bundle-sizes.ts";

const ROOT = resolve(import.meta.dirname, "..");
export const DIST = join(ROOT, "dist");

/** Every program: where it starts, and the name of its first file under dist/. */
const PROGRAMS = [
  { name: "drain-node", entry: "functions/drain-node/handler.ts", file: "handler" },
  { name: "relay", entry: "relay/main.ts", file: "main" },
] as const;

export interface Bundle extends BundleSizes {
  readonly name: string;
  readonly directory: string;
  readonly entry: string;
}

interface BuildOptions {
  /** Source maps beside the bundles; they are never deployed. */
  readonly sourcemap?: boolean;
}

/**
 * Builds every program into dist/ and gives their sizes.
 * @throws the bundler's error, with file and line, if a program isn't there or doesn't compile.
 */
export async function buildBundles(options: BuildOptions = {}): Promise<readonly Bundle[]> {
  return Promise.all(
    PROGRAMS.map(({ name, entry, file }) =>
      buildBundle({ name, entry: join(ROOT, entry), file, directory: join(DIST, name) }, options),
    ),
  );
}

/** Builds one program into `directory`, which is emptied first. */
export async function buildBundle(
  program: { readonly name: string; readonly entry: string; readonly file: string; readonly directory: string },
  { sourcemap = false }: BuildOptions = {},
): Promise<Bundle> {
  await rm(program.directory, { recursive: true, force: true });
  const { metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: [{ in: program.entry, out: program.file }],
    outdir: program.directory,
    outExtension: { ".js": ".mjs" },
    chunkNames: "chunks/[name]-[hash]",
    bundle: true,
    platform: "node",
    target: "node24",
    format: "esm",
    // The EC2 client is loaded with `await import()`, only when a node is unknown: it must stay a file of its own.
    splitting: true,
    // The SDK's ES modules, which can be shaken, before its CommonJS.
    mainFields: ["module", "main"],
    banner: { js: REQUIRE_FOR_COMMONJS },
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
  const entry = join(program.directory, `${program.file}.mjs`);
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
