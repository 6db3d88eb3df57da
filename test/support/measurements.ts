/** Reads the metrics that a function wrote into its log: one measurement for each value and each set of dimensions. */
import * as z from "zod";
import type { LogLine } from "./backstage.ts";

export interface Measurement {
  readonly name: string;
  readonly unit: string;
  readonly value: number;
  /** By dimension. */
  readonly dimensions: Readonly<Record<string, string>>;
}

/** https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html */
const embeddedMetrics = z.looseObject({
  _aws: z.object({
    CloudWatchMetrics: z.array(
      z.object({
        Namespace: z.literal("nodekeeper"),
        Dimensions: z.array(z.array(z.string())),
        Metrics: z.array(z.object({ Name: z.string(), Unit: z.string() })),
      }),
    ),
  }),
});
/** Values of one metric in one line may be a list. */
const values = z.union([z.number().transform((one) => [one]), z.array(z.number())]);

/** @throws for a line of metrics that CloudWatch couldn't read either, or of another namespace. */
export function readMeasurements(lines: readonly LogLine[]): readonly Measurement[] {
  return lines.filter((line) => "_aws" in line).flatMap(measurementsOf);
}

/** Those of one metric. */
export function valuesOf(name: string, all: readonly Measurement[]): readonly number[] {
  return all.filter((one) => one.name === name).map(({ value }) => value);
}

function measurementsOf(line: LogLine): Measurement[] {
  const { _aws, ...members } = embeddedMetrics.parse(line);
  return _aws.CloudWatchMetrics.flatMap(({ Dimensions, Metrics }) =>
    Dimensions.flatMap((keys) => {
      const dimensions = Object.fromEntries(keys.map((key) => [key, z.string().parse(members[key])]));
      return Metrics.flatMap(({ Name: name, Unit: unit }) =>
        values.parse(members[name]).map((value) => ({ name, unit, value, dimensions })),
      );
    }),
  );
}
