/** Reads back what a function logs and measures in a test: its lines on the console, and the series its metrics would make. */
import { afterEach, beforeEach, vi } from "vitest";
import * as z from "zod";
import { openLogbook } from "../../shared/lambda/open-logbook.ts";

const emfSchema = z.object({
  _aws: z.object({
    CloudWatchMetrics: z.array(
      z.object({
        Namespace: z.string(),
        Dimensions: z.array(z.array(z.string())),
        Metrics: z.array(z.object({ Name: z.string(), Unit: z.string() })),
      }),
    ),
  }),
});

/** To be called beside the tests that use it: it listens to the console during each. */
export function readLogbook() {
  const lines: string[] = [];
  beforeEach(() => {
    lines.length = 0;
    // Powertools writes to a console of its own, unless told that this is a developer's machine.
    vi.stubEnv("POWERTOOLS_DEV", "true");
    vi.stubEnv("POWERTOOLS_METRICS_DISABLED", "false");
    vi.stubEnv("LOG_LEVEL", "INFO");
    for (const level of ["log", "info", "warn", "error", "debug"] as const) {
      vi.spyOn(console, level).mockImplementation((line: unknown) => {
        lines.push(String(line));
      });
    }
  });
  afterEach(() => {
    vi.restoreAllMocks();
    vi.unstubAllEnvs();
  });

  const written = () =>
    lines.map((line): Record<string, unknown> => z.record(z.string(), z.unknown()).parse(JSON.parse(line)));

  return {
    /** A logger and metrics of cluster `blue`. */
    open: (fn: string) => openLogbook({ FUNCTION: fn, CLUSTER_NAME: "blue" }),
    written,
    logged: () => written().filter((line) => "level" in line),
    /** Every series that the lines so far would make: namespace, metric and the values of its dimensions. */
    series: (): ReadonlySet<string> => {
      const found = new Set<string>();
      for (const line of written()) {
        const emf = emfSchema.safeParse(line);
        if (!emf.success) continue;
        for (const { Namespace, Dimensions, Metrics } of emf.data._aws.CloudWatchMetrics) {
          for (const dimensions of Dimensions) {
            const values = dimensions.map((dimension) => `${dimension}=${String(line[dimension])}`);
            for (const { Name } of Metrics) found.add(`${Namespace} ${Name} ${values.join(" ")}`);
          }
        }
      }
      return found;
    },
    forget: () => {
      lines.length = 0;
    },
  };
}
