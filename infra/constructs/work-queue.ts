/**
 * A queue whose messages are loops: each comes back to one function until it is done. With it come its dead letters,
 * a door that lets in our own rules and the replay roles only, and two alarms.
 */
import { Duration, Lazy } from "aws-cdk-lib";
import type { IRule } from "aws-cdk-lib/aws-events";
import { AnyPrincipal, Effect, type IRole, PolicyStatement } from "aws-cdk-lib/aws-iam";
import { type IQueue, Queue, QueueEncryption } from "aws-cdk-lib/aws-sqs";
import { Construct } from "constructs";
import type { AlarmBoard } from "./alarm-board.ts";

export interface WorkQueueProps {
  /** `nodekeeper-<cluster>-<function>`; the dead letters add `-dead`. */
  readonly name: string;
  /** The function that works it off, as in alarms. */
  readonly worker: string;
  readonly workerTimeout: Duration;
  /** Roles that may put messages back. */
  readonly replayRoleArns: readonly string[];
  /** Rings when a message hasn't been taken by the worker for so long. */
  readonly pickUpWithin: Duration;
  readonly alarms: AlarmBoard;
}

/**
 * Receives after which SQS gives up. A signal ends by its own deadline long before; this only stops a message that
 * kills its function each time.
 */
const MAX_RECEIVES = 1000;
/** The longest that SQS keeps a message. */
const DEAD_LETTER_DAYS = 14;
/** A message whose function died comes back a little after the function's time would have been over. */
const VISIBILITY_OVER_TIMEOUT = 1.2;

export class WorkQueue extends Construct {
  readonly queue: IQueue;
  readonly deadLetters: IQueue;
  readonly #ruleArns: string[] = [];
  readonly #setAsideRoleArns: string[] = [];

  constructor(scope: Construct, id: string, props: WorkQueueProps) {
    super(scope, id);
    const deadLetters = new Queue(this, "DeadLetters", {
      queueName: `${props.name}-dead`,
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      retentionPeriod: Duration.days(DEAD_LETTER_DAYS),
    });
    const queue = new Queue(this, "Queue", {
      queueName: props.name,
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      visibilityTimeout: Duration.seconds(Math.ceil(props.workerTimeout.toSeconds() * VISIBILITY_OVER_TIMEOUT)),
      deadLetterQueue: { queue: deadLetters, maxReceiveCount: MAX_RECEIVES },
    });
    queue.addToResourcePolicy(onlySenders(queue, this.#ruleArns, props.replayRoleArns));
    deadLetters.addToResourcePolicy(onlySenders(deadLetters, this.#ruleArns, this.#setAsideRoleArns));
    this.queue = queue;
    this.deadLetters = deadLetters;
    this.#watch(props);
  }

  /** Lets a rule deliver here, and set aside what it couldn't deliver. */
  admitRule(rule: IRule): void {
    this.#ruleArns.push(rule.ruleArn);
  }

  /** Lets a function put what it can't read into the dead letters; never into the queue that it works off. */
  admitToDeadLetters(role: IRole): void {
    this.#setAsideRoleArns.push(role.roleArn);
  }

  #watch({ worker, pickUpWithin, alarms }: WorkQueueProps): void {
    const period = Duration.minutes(1);
    alarms.add({
      subject: worker,
      meaning: `A signal for ${worker} was given up: it could not be read, delivered or finished.`,
      runbook: "dead-letters",
      metric: this.deadLetters.metricApproximateNumberOfMessagesVisible({ statistic: "max", period }),
      threshold: 1,
    });
    // SQS doesn't count messages that were received three times or more, so loops under way don't ring here.
    alarms.add({
      subject: worker,
      meaning: `Signals lie in the queue of ${worker} and nobody takes them.`,
      runbook: "signals-not-picked-up",
      metric: this.queue.metricApproximateAgeOfOldestMessage({ statistic: "max", period }),
      threshold: pickUpWithin.toSeconds(),
    });
  }
}

/**
 * Denies sending to all but these rules and roles, whatever their own policies allow. Both keys stand in one block, so
 * a sender is denied only if it is neither; `IfExists`, because each sender has only one of the two keys.
 */
function onlySenders(queue: IQueue, ruleArns: readonly string[], roleArns: readonly string[]): PolicyStatement {
  return new PolicyStatement({
    sid: "OnlyOurRulesAndRolesSend",
    effect: Effect.DENY,
    principals: [new AnyPrincipal()],
    actions: ["sqs:SendMessage"],
    resources: [queue.queueArn],
    conditions: {
      ArnNotEqualsIfExists: {
        "aws:SourceArn": Lazy.list({ produce: () => [...ruleArns] }),
        "aws:PrincipalArn": Lazy.list({ produce: () => [...roleArns] }),
      },
    },
  });
}
