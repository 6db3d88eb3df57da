/**
 * Counts a test run in one plain line, `N passed, N failed, N skipped`, and takes nothing for success that isn't: a file
 * that failed to load, a hook that threw, an error nobody caught and a run without a test are failures.
 */
import type { Reporter, TestModule } from "vitest/node";

export interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

export class PlainCountReporter implements Reporter {
  /** Until a run has ended, all that is known is that it hasn't. */
  counts: Counts = { passed: 0, failed: 1, skipped: 0 };
  /** Names of the suites of which no test ran. */
  skippedSuites: readonly string[] = [];

  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[], reason: string): void {
    const each = modules.map(countModule);
    const sum = (key: keyof Counts) => each.reduce((total, one) => total + one[key], 0);
    const failed = sum("failed") + unhandledErrors.length;
    const ran = sum("passed") + failed > 0;
    // "interrupted" with nothing failed yet, or no test at all, is still no success.
    const silent = failed === 0 && (!ran || reason !== "passed") ? 1 : 0;
    this.skippedSuites = modules.flatMap(namesOfSkippedSuites);
    this.counts = { passed: sum("passed"), failed: failed + silent, skipped: sum("skipped") };
  }
}

export function countLine({ passed, failed, skipped }: Counts): string {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`;
}

function countModule(module: TestModule): Counts {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  for (const test of module.children.allTests()) {
    const { state } = test.result();
    // Pending: begun or announced, and never ended.
    counts[state === "pending" ? "failed" : state] += 1;
  }
  // Failed to load, or a hook of a suite threw: then no single test is to blame.
  if (module.state() === "failed" && counts.failed === 0) counts.failed = 1;
  return counts;
}

function namesOfSkippedSuites(module: TestModule): string[] {
  return [...module.children.suites()].filter((suite) => suite.state() === "skipped").map((suite) => suite.name);
}
