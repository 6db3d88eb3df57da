/** One page for whoever is called at night: what rings, how old the oldest signal is, and where signals are stuck. */
import { Duration } from "aws-cdk-lib";
import { AlarmStatusWidget, Dashboard, GraphWidget, SingleValueWidget } from "aws-cdk-lib/aws-cloudwatch";
import { Construct } from "constructs";
import type { FunctionName } from "../../shared/domain/identity.ts";
import type { AlarmBoard } from "./alarm-board.ts";
import { oldestUnfinished } from "./function-alarms.ts";
import type { NodeFunction } from "./node-function.ts";
import type { WorkQueue } from "./work-queue.ts";

export interface ClusterDashboardProps {
  readonly cluster: string;
  readonly fn: FunctionName;
  readonly lambda: NodeFunction["lambda"];
  readonly worksOff: WorkQueue;
  readonly alarms: AlarmBoard;
}

export class ClusterDashboard extends Construct {
  constructor(scope: Construct, id: string, { cluster, fn, lambda, worksOff, alarms }: ClusterDashboardProps) {
    super(scope, id);
    const period = Duration.minutes(1);
    const deadLetters = worksOff.deadLetters.metricApproximateNumberOfMessagesVisible({
      statistic: "max",
      period,
      label: "dead letters",
    });
    new Dashboard(this, "Dashboard", {
      // Names of dashboards are shared by all regions of an account.
      dashboardName: `nodekeeper-${cluster}`,
      widgets: [
        [
          new AlarmStatusWidget({ title: "Alarms", width: 18, alarms: alarms.alarms }),
          new SingleValueWidget({ title: "Given up", width: 6, metrics: [deadLetters] }),
        ],
        [
          new GraphWidget({
            title: `${fn}: signals`,
            width: 12,
            left: [oldestUnfinished(cluster, fn).with({ label: "oldest unfinished (s)" })],
          }),
          new GraphWidget({
            title: `${fn}: queue`,
            width: 12,
            left: [
              worksOff.queue.metricApproximateNumberOfMessagesVisible({ period, label: "waiting" }),
              worksOff.queue.metricApproximateNumberOfMessagesNotVisible({ period, label: "under way" }),
            ],
          }),
        ],
        [
          new GraphWidget({
            title: `${fn}: invocations`,
            width: 12,
            left: [
              lambda.metricInvocations({ period }),
              lambda.metricErrors({ period }),
              lambda.metricThrottles({ period }),
            ],
          }),
          new GraphWidget({
            title: `${fn}: duration`,
            width: 12,
            left: [
              lambda.metricDuration({ period, statistic: "p50" }),
              lambda.metricDuration({ period, statistic: "max" }),
            ],
          }),
        ],
      ],
    });
  }
}
