/**
 * `npm test`: builds the bundles that are deployed, runs every suite on them, and ends with the plain count as the last
 * line. On CI a skipped test is a failure too, for there everything that tests need is there.
 */
import { buildBundles } from "./build.ts";
import { type Counts, countLine } from "./plain-count-reporter.ts";
import { runTests } from "./test-run.ts";

async function buildAndTest(): Promise<Counts> {
  try {
    await buildBundles();
    return await runTests(process.argv.slice(2));
  } catch (error) {
    console.error(error);
    return { passed: 0, failed: 1, skipped: 0 };
  }
}

const counts = await buildAndTest();
const skippedOnCi = Boolean(process.env.CI) && counts.skipped > 0;
if (skippedOnCi) console.error("Tests were skipped on CI, where all must run.");
const failed = counts.failed > 0 || skippedOnCi;
// Exits though something may still be open: a leak of a test must not hang the run after its last line.
process.stdout.write(`${countLine(counts)}\n`, () => process.exit(failed ? 1 : 0));
