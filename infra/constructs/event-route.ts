/** The way of one kind of cloud event into a queue: rule, target, retries, and what becomes of what can't be delivered. */
import { Duration } from "aws-cdk-lib";
import { Metric } from "aws-cdk-lib/aws-cloudwatch";
import { Rule } from "aws-cdk-lib/aws-events";
import { SqsQueue } from "aws-cdk-lib/aws-events-targets";
import { Construct } from "constructs";
import type { EventDefinition } from "../../events/define-event.ts";
import type { AlarmBoard } from "./alarm-board.ts";
import type { WorkQueue } from "./work-queue.ts";

export interface EventRouteProps {
  readonly event: Pick<EventDefinition, "name" | "pattern">;
  readonly to: WorkQueue;
  /** How long delivery is tried. What is older goes to the dead letters: it would no longer help its node. */
  readonly deliverWithin: Duration;
  readonly alarms: AlarmBoard;
}

/** EventBridge's own limit, so that the age is what ends the retries. */
const MAX_RETRIES = 185;

export class EventRoute extends Construct {
  /** CloudFormation names it, within EventBridge's 64 characters. On the default bus, where AWS puts its events. */
  readonly rule: Rule;

  constructor(scope: Construct, id: string, { event, to, deliverWithin, alarms }: EventRouteProps) {
    super(scope, id);
    this.rule = new Rule(this, "Rule", {
      description: `nodekeeper: ${event.name}`,
      eventPattern: { source: [...event.pattern.source], detailType: [...event.pattern["detail-type"]] },
      targets: [
        new SqsQueue(to.queue, {
          deadLetterQueue: to.deadLetters,
          maxEventAge: deliverWithin,
          retryAttempts: MAX_RETRIES,
        }),
      ],
    });
    to.admitRule(this.rule);
    alarms.add({
      subject: event.name,
      meaning: `EventBridge could bring ${event.name} events neither to the queue nor to its dead letters: they are lost.`,
      runbook: "events-lost",
      metric: new Metric({
        namespace: "AWS/Events",
        metricName: "InvocationsFailedToBeSentToDlq",
        dimensionsMap: { RuleName: this.rule.ruleName },
        statistic: "sum",
        period: Duration.minutes(1),
      }),
      threshold: 1,
    });
  }
}
