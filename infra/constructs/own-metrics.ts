/** Metrics that the functions write themselves, as alarms and the dashboard ask for them. */
import { Duration } from "aws-cdk-lib";
import { Metric } from "aws-cdk-lib/aws-cloudwatch";
import type { FunctionName } from "../../shared/domain/identity.ts";
import { METRIC_DIMENSIONS, METRICS_NAMESPACE } from "../../shared/domain/metrics.ts";

export interface OwnMetric {
  readonly cluster: string;
  readonly fn: FunctionName;
  readonly name: string;
  readonly statistic: "max" | "sum";
  /** Dimensions besides the two that each metric has. */
  readonly more?: Readonly<Record<string, string>>;
  /** Default: a minute. */
  readonly period?: Duration;
}

export function ownMetric({ cluster, fn, name, statistic, more, period = Duration.minutes(1) }: OwnMetric): Metric {
  return new Metric({
    namespace: METRICS_NAMESPACE,
    metricName: name,
    dimensionsMap: { [METRIC_DIMENSIONS.functionName]: fn, [METRIC_DIMENSIONS.cluster]: cluster, ...more },
    statistic,
    period,
  });
}
