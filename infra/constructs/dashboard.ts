/** One page for whoever is called at night: what rings, how old the oldest signal is, and where work is stuck. */
import { Duration } from "aws-cdk-lib";
import { AlarmStatusWidget, Dashboard, GraphWidget, type IWidget, SingleValueWidget } from "aws-cdk-lib/aws-cloudwatch";
import { Construct } from "constructs";
import type { FunctionName } from "../../shared/domain/identity.ts";
import { FENCING_METRICS, FENCING_PROOFS } from "../../shared/domain/metrics.ts";
import type { AlarmBoard } from "./alarm-board.ts";
import type { NodeFunction } from "./node-function.ts";
import { ownMetric } from "./own-metrics.ts";
import { oldestUnfinished } from "./signal-feed.ts";
import type { WorkQueue } from "./work-queue.ts";

export interface ClusterDashboardProps {
  readonly cluster: string;
  readonly fn: FunctionName;
  readonly lambda: NodeFunction["lambda"];
  readonly worksOff: WorkQueue;
  /** Undefined where no node is fenced. */
  readonly fencing: NodeFunction["lambda"] | undefined;
  readonly alarms: AlarmBoard;
}

const PERIOD = Duration.minutes(1);

export class ClusterDashboard extends Construct {
  constructor(scope: Construct, id: string, { cluster, fn, lambda, worksOff, fencing, alarms }: ClusterDashboardProps) {
    super(scope, id);
    const deadLetters = worksOff.deadLetters.metricApproximateNumberOfMessagesVisible({
      statistic: "max",
      period: PERIOD,
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
              worksOff.queue.metricApproximateNumberOfMessagesVisible({ period: PERIOD, label: "waiting" }),
              worksOff.queue.metricApproximateNumberOfMessagesNotVisible({ period: PERIOD, label: "under way" }),
            ],
          }),
        ],
        runsOf(fn, lambda),
        ...(fencing ? [fencesOf(cluster), runsOf("fence-node", fencing)] : []),
      ],
    });
  }
}

function fencesOf(cluster: string): IWidget[] {
  const fn = "fence-node";
  const own = (name: string, label: string, statistic: "max" | "sum") =>
    ownMetric({ cluster, fn, name, statistic }).with({ label });
  return [
    new GraphWidget({
      title: `${fn}: silence`,
      width: 12,
      left: [
        own(FENCING_METRICS.suspected, "nodes suspected", "max"),
        own(FENCING_METRICS.reachable, "reachable without their kubelet", "max"),
      ],
      right: [own(FENCING_METRICS.silentShare, "share of silent Leases", "max")],
    }),
    new GraphWidget({
      title: `${fn}: fencing`,
      width: 12,
      left: [
        ...FENCING_PROOFS.map((proof) =>
          ownMetric({ cluster, fn, name: FENCING_METRICS.fenced, statistic: "sum", more: { proof } }).with({
            label: `fenced, proof ${proof}`,
          }),
        ),
        own(FENCING_METRICS.heldByBrake, "held back", "sum"),
        own(FENCING_METRICS.passesFailed, "failed passes", "sum"),
        own(FENCING_METRICS.stepsFailed, "failed steps", "sum"),
      ],
    }),
  ];
}

function runsOf(fn: FunctionName, lambda: NodeFunction["lambda"]): IWidget[] {
  const each = { period: PERIOD };
  return [
    new GraphWidget({
      title: `${fn}: invocations`,
      width: 12,
      left: [lambda.metricInvocations(each), lambda.metricErrors(each), lambda.metricThrottles(each)],
    }),
    new GraphWidget({
      title: `${fn}: duration`,
      width: 12,
      left: [
        lambda.metricDuration({ ...each, statistic: "p50" }),
        lambda.metricDuration({ ...each, statistic: "max" }),
      ],
    }),
  ];
}
