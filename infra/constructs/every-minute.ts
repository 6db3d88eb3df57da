/**
 * Runs a function every minute, straight from the Scheduler. A run that is late or failed is never made up for: the next
 * one sees what it would have seen.
 */
import { Duration, Stack } from "aws-cdk-lib";
import { PolicyDocument, Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { EventInvokeConfig } from "aws-cdk-lib/aws-lambda";
import { CfnSchedule, CfnScheduleGroup } from "aws-cdk-lib/aws-scheduler";
import { Construct } from "constructs";
import { type FunctionName, roleName } from "../../shared/domain/identity.ts";
import type { AlarmBoard } from "./alarm-board.ts";
import { allow } from "./function-grants.ts";
import type { NodeFunction } from "./node-function.ts";

export interface EveryMinuteProps {
  readonly cluster: string;
  readonly fn: FunctionName;
  readonly runs: NodeFunction;
  /** Off: it is there, but nothing runs and nothing rings. */
  readonly enabled: boolean;
  readonly alarms: AlarmBoard;
}

/** A minute is the least that both the Scheduler and Lambda take for the age of an event. */
const DROP_AFTER = Duration.minutes(1);
/** Five runs missed: a deployment or a hiccup of the Scheduler takes less. */
const MISSED_FOR = Duration.minutes(5);

export class EveryMinute extends Construct {
  /** `<group>/<name>`. */
  readonly scheduleName: string;

  constructor(scope: Construct, id: string, { cluster, fn, runs, enabled, alarms }: EveryMinuteProps) {
    super(scope, id);
    const name = roleName(cluster, fn);
    // The Scheduler hands its calls to Lambda's own queue of asynchronous events, which by default tries a failed one
    // twice again: https://docs.aws.amazon.com/lambda/latest/dg/invocation-async-error-handling.html
    new EventInvokeConfig(this, "Asynchronous", { function: runs.lambda, maxEventAge: DROP_AFTER, retryAttempts: 0 });
    // A group of its own, since the role can be bound to groups, not to single schedules:
    // https://docs.aws.amazon.com/scheduler/latest/UserGuide/cross-service-confused-deputy-prevention.html
    const group = new CfnScheduleGroup(this, "Group", { name });
    const role = new Role(this, "Role", {
      description: `nodekeeper: runs ${fn} of cluster ${cluster}`,
      assumedBy: new ServicePrincipal("scheduler.amazonaws.com", {
        conditions: { StringEquals: { "aws:SourceAccount": Stack.of(this).account, "aws:SourceArn": group.attrArn } },
      }),
      inlinePolicies: {
        run: new PolicyDocument({
          statements: [allow("RunIt", ["lambda:InvokeFunction"], runs.lambda.functionArn)],
        }),
      },
    });
    const schedule = new CfnSchedule(this, "Schedule", {
      name,
      groupName: group.ref,
      description: `nodekeeper: ${fn} of cluster ${cluster}`,
      scheduleExpression: "rate(1 minute)",
      flexibleTimeWindow: { mode: "OFF" },
      state: enabled ? "ENABLED" : "DISABLED",
      target: {
        arn: runs.lambda.functionArn,
        roleArn: role.roleArn,
        retryPolicy: { maximumRetryAttempts: 0, maximumEventAgeInSeconds: DROP_AFTER.toSeconds() },
      },
    });
    this.scheduleName = `${group.ref}/${schedule.ref}`;
    if (!enabled) return;
    alarms.add({
      subject: fn,
      meaning: `${fn} hasn't run for ${MISSED_FOR.toMinutes()} minutes, though it should every minute.`,
      runbook: "schedule-stopped",
      metric: runs.lambda.metricInvocations({ statistic: "sum", period: MISSED_FOR }),
      threshold: 1,
      rings: "below-or-missing",
    });
  }
}
