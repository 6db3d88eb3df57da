/** One run of vitest over all suites, or over those that the arguments name, and what came of it. */
import { parseCLI, startVitest } from "vitest/node";
import { type Counts, PlainCountReporter } from "./plain-count-reporter.ts";

/**
 * `args` as for `vitest run`: file names, `--project`, `-t`. Failures are in the counts; nothing is thrown for them. Names the
 * suites that were skipped.
 */
export async function runTests(args: readonly string[]): Promise<Counts> {
  const reporter = new PlainCountReporter();
  const { filter, options } = parseCLI(["vitest", "run", ...args]);
  const vitest = await startVitest("test", filter, { ...options, watch: false, reporters: ["default", reporter] });
  await vitest.close();
  for (const name of reporter.skippedSuites) console.log(`skipped: ${name}`);
  return reporter.counts;
}
