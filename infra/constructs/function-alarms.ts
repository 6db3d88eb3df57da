/** When any function needs a person: failures that don't mend themselves, no room to run. */
import { Duration } from "aws-cdk-lib";
import type { IFunction } from "aws-cdk-lib/aws-lambda";
import type { FunctionName } from "../../shared/domain/identity.ts";
import type { AlarmBoard } from "./alarm-board.ts";

interface WatchedFunction {
  readonly fn: FunctionName;
  readonly alarms: AlarmBoard;
}

export function watchFunction(lambda: IFunction, { fn, alarms }: WatchedFunction): void {
  // One failed invocation mends itself: its messages come back, or its schedule does. Several are a pattern.
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
