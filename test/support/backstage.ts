/** What an operator can do and see in the cloud of an installation: put events on the bus, count messages, read the log. */
import { CloudWatchLogsClient, FilterLogEventsCommand } from "@aws-sdk/client-cloudwatch-logs";
import { EventBridgeClient, PutEventsCommand } from "@aws-sdk/client-eventbridge";
import { GetQueueAttributesCommand, ReceiveMessageCommand, SQSClient } from "@aws-sdk/client-sqs";
import type { Emulator } from "../rig/emulator.ts";

/** What PutEvents takes at once. */
const ENTRIES_PER_CALL = 10;

export interface LogLine {
  readonly message?: string;
  readonly level?: string;
  readonly [key: string]: unknown;
}

export interface DeadLetter {
  readonly body: string;
  readonly reason: string | undefined;
}

/** What a function has written. */
export interface FunctionLog {
  readonly functionName: string;
  /** Its log lines that are JSON, in their order: metrics too. */
  logLines(): Promise<readonly LogLine[]>;
  /** All lines of its log, as Lambda and the function wrote them. */
  logText(): Promise<string>;
}

export interface Backstage extends FunctionLog {
  readonly queueUrl: string;
  readonly deadLetterQueueUrl: string;
  /** Undefined where no policy enables fencing. */
  readonly fenceNode: FunctionLog | undefined;
  readonly replayRoleArn: string;
  readonly sqs: SQSClient;
  /** Puts spot interruptions of these instances on the bus, in order. */
  interrupt(instanceIds: readonly string[], action?: string): Promise<void>;
  /** Puts any events on the bus. */
  putEvents(events: readonly { source: string; detailType: string; detail: unknown }[]): Promise<void>;
  /** Messages in the urgent queue, visible or not. */
  countMessages(): Promise<number>;
  deadLetters(): Promise<readonly DeadLetter[]>;
}

export function openBackstage(emulator: Emulator, outputs: Readonly<Record<string, string>>): Backstage {
  const output = (name: string) => {
    const value = outputs[name];
    if (value === undefined) throw new Error(`looking for the output ${name}: there are ${Object.keys(outputs)}`);
    return value;
  };
  const queueUrl = output("UrgentQueueUrl");
  const deadLetterQueueUrl = output("UrgentDeadLetterQueueUrl");
  const sqs = new SQSClient(emulator.clientConfig);
  const events = new EventBridgeClient(emulator.clientConfig);
  const logs = new CloudWatchLogsClient(emulator.clientConfig);
  const logOf = (functionName: string): FunctionLog => {
    const logText = () => readLog(logs, `/aws/lambda/${functionName}`);
    return { functionName, logText, logLines: async () => jsonLines(await logText()) };
  };

  const putEvents: Backstage["putEvents"] = async (all) => {
    for (let at = 0; at < all.length; at += ENTRIES_PER_CALL) {
      const Entries = all.slice(at, at + ENTRIES_PER_CALL).map(({ source, detailType, detail }) => ({
        Source: source,
        DetailType: detailType,
        Detail: JSON.stringify(detail),
      }));
      const { FailedEntryCount = 0 } = await events.send(new PutEventsCommand({ Entries }));
      if (FailedEntryCount > 0) throw new Error(`putting events on the bus: ${FailedEntryCount} were refused`);
    }
  };

  return {
    queueUrl,
    deadLetterQueueUrl,
    ...logOf(output("DrainUrgentFunctionName")),
    fenceNode: outputs.FenceNodeFunctionName === undefined ? undefined : logOf(outputs.FenceNodeFunctionName),
    replayRoleArn: output("ReplayRoleArn"),
    sqs,
    putEvents,
    interrupt: (instanceIds, action = "terminate") =>
      putEvents(
        instanceIds.map((id) => ({
          source: "aws.ec2",
          detailType: "EC2 Spot Instance Interruption Warning",
          detail: { "instance-id": id, "instance-action": action },
        })),
      ),
    countMessages: () => countMessages(sqs, queueUrl),
    deadLetters: () => readAll(sqs, deadLetterQueueUrl),
  };
}

async function countMessages(sqs: SQSClient, QueueUrl: string): Promise<number> {
  const { Attributes = {} } = await sqs.send(new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ["All"] }));
  const { ApproximateNumberOfMessages = 0, ApproximateNumberOfMessagesNotVisible = 0 } = Attributes;
  return Number(ApproximateNumberOfMessages) + Number(ApproximateNumberOfMessagesNotVisible);
}

/** Reads without deleting: with no visibility timeout, what was read can be read again at once. */
async function readAll(sqs: SQSClient, QueueUrl: string): Promise<readonly DeadLetter[]> {
  const found = new Map<string, DeadLetter>();
  const expected = await countMessages(sqs, QueueUrl);
  for (let tries = 0; found.size < expected && tries < 50; tries++) {
    const { Messages = [] } = await sqs.send(
      new ReceiveMessageCommand({
        QueueUrl,
        MaxNumberOfMessages: 10,
        VisibilityTimeout: 0,
        MessageAttributeNames: ["All"],
      }),
    );
    for (const { MessageId = "", Body = "", MessageAttributes = {} } of Messages) {
      found.set(MessageId, { body: Body, reason: MessageAttributes.reason?.StringValue });
    }
  }
  return [...found.values()];
}

async function readLog(logs: CloudWatchLogsClient, logGroupName: string): Promise<string> {
  const lines: string[] = [];
  let nextToken: string | undefined;
  do {
    const page = await logs.send(new FilterLogEventsCommand({ logGroupName, nextToken }));
    for (const { message = "" } of page.events ?? []) lines.push(message);
    nextToken = page.nextToken;
  } while (nextToken !== undefined);
  return lines.join("\n");
}

/** The lines of a log that are JSON objects. */
export function jsonLines(text: string): LogLine[] {
  return text
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .flatMap((line) => {
      try {
        return [JSON.parse(line)];
      } catch {
        return [];
      }
    });
}
