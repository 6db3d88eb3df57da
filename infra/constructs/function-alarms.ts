/** When a function needs a person: signals past their time, failures that don't mend themselves, no room to run. */
import { Duration } from "aws-cdk-lib";
import { Metric } from "aws-cdk-lib/aws-cloudwatch";
import type { IFunction } from "aws-cdk-lib/aws-lambda";
import type { FunctionName } from "../../shared/domain/identity.ts";
import { METRIC_DIMENSIONS, METRICS_NAMESPACE, OLDEST_UNFINISHED_METRIC } from "../../shared/domain/metrics.ts";
import type { AlarmBoard } from "./alarm-board.ts";

export interface WatchedFunction {
  readonly fn: FunctionName;
  readonly config: { readonly cluster: string };
  /** Rings when a signal is older than this and still not done. */
  readonly finishWithin: Duration;
  readonly alarms: AlarmBoard;
}

export function watchFunction(lambda: IFunction, { fn, config, finishWithin, alarms }: WatchedFunction): void {
  // Our own age, from the event's time: the queue's age metric leaves out messages that were received three times.
  alarms.add({
    subject: fn,
    meaning: `A signal for ${fn} is past its time and still not done.`,
    runbook: "signals-unfinished",
    metric: oldestUnfinished(config.cluster, fn),
    threshold: finishWithin.toSeconds(),
  });
  // One failed invocation mends itself: its messages come back. Several are a pattern.
  alarms.add({
    subject: fn,
    meaning: `${fn} fails again and again: it crashes, runs out of time, or can't start.`,
    runbook: "function-errors",
    metric: lambda.metricErrors({ period: Duration.minutes(5) }),
    threshold: 3,
  });
  alarms.add({
    subject: fn,
    meaning: `Lambda refuses to run ${fn}: no concurrency is left for it.`,
    runbook: "function-throttled",
    metric: lambda.metricThrottles({ period: Duration.minutes(1) }),
    threshold: 1,
  });
}

/** Age in seconds of the oldest signal that a function hasn't finished. */
export function oldestUnfinished(cluster: string, fn: FunctionName): Metric {
  return new Metric({
    namespace: METRICS_NAMESPACE,
    metricName: OLDEST_UNFINISHED_METRIC,
    dimensionsMap: { [METRIC_DIMENSIONS.functionName]: fn, [METRIC_DIMENSIONS.cluster]: cluster },
    statistic: "max",
    period: Duration.minutes(1),
  });
}
