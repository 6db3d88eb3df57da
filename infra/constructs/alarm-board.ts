/** Every alarm of an installation is made here: named, explained, tied to its page in the runbook, and announced. */
import { Alarm, ComparisonOperator, type IAlarm, type Metric, TreatMissingData } from "aws-cdk-lib/aws-cloudwatch";
import { SnsAction } from "aws-cdk-lib/aws-cloudwatch-actions";
import { Topic } from "aws-cdk-lib/aws-sns";
import { Construct } from "constructs";

/** Sections of docs/runbook.md, as their anchors. */
export type RunbookPage =
  | "dead-letters"
  | "signals-not-picked-up"
  | "signals-unfinished"
  | "function-errors"
  | "function-throttled"
  | "events-lost"
  | "fencing-held-back"
  | "fencing-blind"
  | "fencing-stuck"
  | "schedule-stopped";

export interface AlarmSpec {
  /** What it watches, such as `drain-urgent`: the first part of the alarm's name. */
  readonly subject: string;
  /** One sentence: what has happened when it rings. */
  readonly meaning: string;
  readonly runbook: RunbookPage;
  readonly metric: Metric;
  /** Rings at this value or above, for one period of the metric; or below it, as `rings` says. */
  readonly threshold: number;
  /** `below-or-missing` is for what must go on all the time. Default: `at-or-above`, and silence rings nothing. */
  readonly rings?: "at-or-above" | "below-or-missing";
}

const RINGING = {
  // No signal, no data point: silence is the normal state of a cluster.
  "at-or-above": {
    comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
    treatMissingData: TreatMissingData.NOT_BREACHING,
  },
  "below-or-missing": {
    comparisonOperator: ComparisonOperator.LESS_THAN_THRESHOLD,
    treatMissingData: TreatMissingData.BREACHING,
  },
} as const;

export class AlarmBoard extends Construct {
  readonly #cluster: string;
  readonly #announce: SnsAction | undefined;
  readonly #alarms: IAlarm[] = [];

  /** `topicArn`: where alarms are announced; undefined keeps them on the dashboard only. */
  constructor(
    scope: Construct,
    id: string,
    props: { readonly cluster: string; readonly topicArn: string | undefined },
  ) {
    super(scope, id);
    this.#cluster = props.cluster;
    if (props.topicArn) this.#announce = new SnsAction(Topic.fromTopicArn(this, "Topic", props.topicArn));
  }

  get alarms(): IAlarm[] {
    return [...this.#alarms];
  }

  add(spec: AlarmSpec): void {
    const alarm = new Alarm(this, `${spec.subject}-${spec.runbook}`, {
      alarmName: `nodekeeper-${this.#cluster}-${spec.subject}-${spec.runbook}`,
      alarmDescription: `${spec.meaning} See docs/runbook.md#${spec.runbook}`,
      metric: spec.metric,
      threshold: spec.threshold,
      ...RINGING[spec.rings ?? "at-or-above"],
      evaluationPeriods: 1,
    });
    if (this.#announce) {
      alarm.addAlarmAction(this.#announce);
      alarm.addOkAction(this.#announce);
    }
    this.#alarms.push(alarm);
  }
}
