/**
 * `npm run check`: everything that can be told without real parts, in under a minute, quickest first. All steps run, so
 * that all faults are seen at once. With `--no-tests` only what reads the code, which CI does before the tests.
 */
import { spawn } from "node:child_process";
import { join } from "node:path";
import { text } from "node:stream/consumers";

interface Step {
  readonly what: string;
  readonly tool: string;
  readonly args: readonly string[];
}

const ROOT = join(import.meta.dirname, "..");

const READING: readonly Step[] = [
  { what: "format, lint, import arrows", tool: "biome", args: ["check", "--error-on-warnings"] },
  { what: "types", tool: "tsc", args: ["-p", "."] },
  { what: "promises", tool: "oxlint", args: ["--type-aware", "--deny-warnings"] },
  { what: "unused code", tool: "knip", args: [] },
];
const TESTS: Step = {
  what: "unit tests",
  tool: "vitest",
  args: ["run", "--project", "unit"],
};

/** Says how the step went, with all it printed if it failed. */
async function isFine({ what, tool, args }: Step): Promise<boolean> {
  const start = performance.now();
  const child = spawn(join(ROOT, "node_modules/.bin", tool), args, { cwd: ROOT, stdio: ["ignore", "pipe", "pipe"] });
  const code = new Promise<number | null>((resolve, reject) => child.once("error", reject).once("close", resolve));
  const [exit, ...printed] = await Promise.all([code, text(child.stdout), text(child.stderr)]);
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  console.log(`${exit === 0 ? "ok  " : "FAIL"} ${what} (${tool}) ${seconds} s`);
  if (exit !== 0) console.log(printed.join("\n").trim());
  return exit === 0;
}

const steps = process.argv.includes("--no-tests") ? READING : [...READING, TESTS];
for (const step of steps) {
  if (!(await isFine(step))) process.exitCode = 1;
}
