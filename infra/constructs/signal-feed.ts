/** Brings the signals of a queue to the function that works it off, and rings when one of them isn't done in time. */
import { Duration } from "aws-cdk-lib";
import type { Metric } from "aws-cdk-lib/aws-cloudwatch";
import type { FunctionName } from "../../shared/domain/identity.ts";
import { OLDEST_UNFINISHED_METRIC } from "../../shared/domain/metrics.ts";
import type { AlarmBoard } from "./alarm-board.ts";
import type { NodeFunction } from "./node-function.ts";
import { ownMetric } from "./own-metrics.ts";
import type { WorkQueue } from "./work-queue.ts";

export interface SignalFeed {
  readonly fn: FunctionName;
  readonly cluster: string;
  readonly from: WorkQueue;
  readonly maxConcurrency: number;
  /** Rings when a signal is older than this and still not done. */
  readonly finishWithin: Duration;
  readonly alarms: AlarmBoard;
}

/** Ten signals share one look at the cluster; waiting to fill a batch would cost them their first seconds. */
const BATCH = { size: 10, window: Duration.seconds(0) };

export function feedSignals({ lambda, role }: NodeFunction, feed: SignalFeed): void {
  feed.from.admitToDeadLetters(role);
  lambda.addEventSourceMapping("Signals", {
    eventSourceArn: feed.from.queue.queueArn,
    batchSize: BATCH.size,
    maxBatchingWindow: BATCH.window,
    maxConcurrency: feed.maxConcurrency,
    reportBatchItemFailures: true,
  });
  // Our own age, from the event's time: the queue's age metric leaves out messages that were received three times.
  feed.alarms.add({
    subject: feed.fn,
    meaning: `A signal for ${feed.fn} is past its time and still not done.`,
    runbook: "signals-unfinished",
    metric: oldestUnfinished(feed.cluster, feed.fn),
    threshold: feed.finishWithin.toSeconds(),
  });
}

/** Age in seconds of the oldest signal that a function hasn't finished. */
export function oldestUnfinished(cluster: string, fn: FunctionName): Metric {
  return ownMetric({ cluster, fn, name: OLDEST_UNFINISHED_METRIC, statistic: "max" });
}
