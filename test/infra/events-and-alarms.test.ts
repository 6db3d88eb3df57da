/** Rules and alarms: no event gets lost without a sound, and every sound leads to a page of the runbook. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import * as z from "zod";
import { urgentEvents } from "../../events/accepted.ts";
import { METRICS_NAMESPACE, OLDEST_UNFINISHED_METRIC } from "../../shared/domain/metrics.ts";
import { SMALLEST_CONFIG, synthesizeConfig } from "./synthesized.ts";

const TOPIC = "arn:aws:sns:eu-west-1:111122223333:alerts";
const stack = synthesizeConfig({ ...SMALLEST_CONFIG, alarms: { topicArn: TOPIC } });
afterAll(() => stack[Symbol.dispose]());

const rules = stack.of("AWS::Events::Rule");
const alarmSchema = z.object({
  AlarmName: z.string(),
  AlarmDescription: z.string(),
  AlarmActions: z.array(z.string()),
  OKActions: z.array(z.string()),
  Namespace: z.string(),
  MetricName: z.string(),
  Threshold: z.number(),
  TreatMissingData: z.string(),
  Dimensions: z
    .array(z.object({ Name: z.string(), Value: z.string() }))
    .transform((all) => Object.fromEntries(all.map(({ Name, Value }) => [Name, Value]))),
});
const alarms = stack.of("AWS::CloudWatch::Alarm").map((one) => alarmSchema.parse(one.properties));
const runbook = readFileSync(join(import.meta.dirname, "../../docs/runbook.md"), "utf8");

describe("rules", () => {
  test("there is one per urgent event, with that event's own pattern, whatever the size of the cluster", () => {
    expect(rules.map((rule) => rule.properties.EventPattern)).toEqual(urgentEvents.map((event) => event.pattern));
    for (const rule of rules) expect(rule.properties).toMatchObject({ State: "ENABLED" });
  });

  test("each target is the work queue, tries again while the notice lasts, then sets the event aside", () => {
    const queueArn = stack.of("AWS::Lambda::EventSourceMapping")[0]?.properties.EventSourceArn;
    for (const rule of rules) {
      const targets = z.array(z.record(z.string(), z.unknown())).parse(rule.properties.Targets);
      expect(targets).toHaveLength(1);
      expect(targets[0]).toMatchObject({
        Arn: queueArn,
        DeadLetterConfig: { Arn: expect.stringContaining("DeadLetters") },
        RetryPolicy: { MaximumRetryAttempts: 185, MaximumEventAgeInSeconds: 240 },
      });
      // A message that the target was told to send on would be another message: the event goes as it came.
      expect(targets[0]).not.toHaveProperty("InputTransformer");
    }
  });
});

describe("alarms", () => {
  const watching = (metric: string, dimensions: Record<string, unknown>) =>
    alarms.filter((alarm) => alarm.MetricName === metric && matches(alarm.Dimensions, dimensions));

  test("every dead-letter queue rings at its first message, every work queue when nobody takes its messages", () => {
    for (const queue of stack.of("AWS::SQS::Queue")) {
      const isWorkQueue = queue.properties.RedrivePolicy !== undefined;
      const metric = isWorkQueue ? "ApproximateAgeOfOldestMessage" : "ApproximateNumberOfMessagesVisible";
      const found = watching(metric, { QueueName: `${queue.id}.QueueName` });
      expect(found.map((alarm) => alarm.Threshold)).toEqual([isWorkQueue ? 60 : 1]);
    }
  });

  test("every function rings when it fails, is throttled, or leaves a signal unfinished past its notice", () => {
    for (const lambda of stack.of("AWS::Lambda::Function")) {
      expect(watching("Errors", { FunctionName: lambda.id })).toHaveLength(1);
      expect(watching("Throttles", { FunctionName: lambda.id })).toHaveLength(1);
    }
    const unfinished = watching(OLDEST_UNFINISHED_METRIC, { service: "drain-urgent", cluster: "blue" });
    expect(unfinished).toMatchObject([{ Namespace: METRICS_NAMESPACE, Threshold: 180 }]);
    expect(Object.keys(unfinished[0]?.Dimensions ?? {}).sort()).toEqual(["cluster", "service"]);
  });

  test("every rule rings when an event is lost", () => {
    for (const rule of rules) expect(watching("InvocationsFailedToBeSentToDlq", { RuleName: rule.id })).toHaveLength(1);
  });

  test("silence rings nothing: a cluster without interruptions has no data points", () => {
    for (const alarm of alarms) expect(alarm.TreatMissingData).toBe("notBreaching");
  });

  test("they are announced, both ways", () => {
    expect(alarms).toHaveLength(6);
    for (const alarm of alarms) expect([alarm.AlarmActions, alarm.OKActions]).toEqual([[TOPIC], [TOPIC]]);
  });

  test("each names a page of the runbook that exists", () => {
    const headings = [...runbook.matchAll(/^## (.+)$/gm)].map(([, heading]) => anchorOf(heading ?? ""));
    for (const alarm of alarms) {
      const [, anchor] = /docs\/runbook\.md#([a-z-]+)$/.exec(alarm.AlarmDescription) ?? [];
      expect(headings).toContain(anchor);
    }
  });

  test("all of them are on the dashboard", () => {
    const body = String(stack.of("AWS::CloudWatch::Dashboard")[0]?.properties.DashboardBody);
    for (const alarm of stack.of("AWS::CloudWatch::Alarm")) expect(body).toContain(`${alarm.id}.Arn`);
  });
});

function matches(all: Record<string, unknown>, wanted: Record<string, unknown>): boolean {
  return Object.entries(wanted).every(([name, value]) => all[name] === value);
}

function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^a-z0-9 -]/g, "")
    .replaceAll(" ", "-");
}
