/** Fencing in the cloud: only where a policy asks for it, run every minute and never made up for, bound to our own instances. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import * as z from "zod";
import { environmentSchema } from "../../functions/fence-node/env.ts";
import { BUNDLE_FILES } from "../../shared/domain/function-environment.ts";
import { FENCING_METRICS, METRICS_NAMESPACE } from "../../shared/domain/metrics.ts";
import { policySchema } from "../../shared/domain/policy.ts";
import { type Statement, statementsOf } from "./policies.ts";
import { readAssets, SMALLEST_CONFIG, type Synthesized, synthesizeConfig } from "./synthesized.ts";

const NAME = "nodekeeper-blue-fence-node";
const INSTANCES = "arn:AWS::Partition:ec2:eu-west-1:111122223333:instance/*";
const ENABLED = { default: { fencing: { enabled: true } } };
const stack = synthesizeConfig({ ...SMALLEST_CONFIG, policy: ENABLED });
const without = synthesizeConfig(SMALLEST_CONFIG);
afterAll(() => {
  stack[Symbol.dispose]();
  without[Symbol.dispose]();
});

const named = (type: string, property: string, from: Synthesized = stack) =>
  from.of(type).find((one) => one.properties[property] === NAME);
const lambda = named("AWS::Lambda::Function", "FunctionName");
const schedules = stack.of("AWS::Scheduler::Schedule");

describe("where no node is fenced", () => {
  test("nothing of it is made", () => {
    const ofFencing = (one: Synthesized) => one.resources.filter(({ id }) => /fenc/i.test(id));
    expect(ofFencing(without)).toEqual([]);
    expect(ofFencing(stack).length).toBeGreaterThan(10);
    expect(without.of("AWS::Scheduler::Schedule")).toEqual([]);
    expect(Object.keys(without.outputs).filter((name) => name.startsWith("Fence"))).toEqual([]);
    expect(JSON.stringify(without.of("AWS::CloudWatch::Dashboard"))).not.toContain("fence-node");
  });

  test("what drains is the same as with fencing", () => {
    const common = without.resources.filter(({ type }) => type !== "AWS::CloudWatch::Dashboard");
    for (const { id, type, properties } of common) {
      const { Code: _, ...expected } = properties;
      expect(stack.of(type).find((one) => one.id === id)?.properties).toMatchObject(expected);
    }
  });

  test("one kind of node that is fenced is enough to have it", () => {
    const overrides = [{ selector: { matchLabels: { pool: "db" } }, policy: { fencing: { enabled: true } } }];
    using some = synthesizeConfig({ ...SMALLEST_CONFIG, policy: { overrides } });
    expect(named("AWS::Lambda::Function", "FunctionName", some)).toBeDefined();
  });
});

describe("the schedule", () => {
  test("runs the function every minute on the minute, and drops what is late or has failed", () => {
    expect(schedules.map((one) => one.properties)).toEqual([
      expect.objectContaining({
        ScheduleExpression: "rate(1 minute)",
        FlexibleTimeWindow: { Mode: "OFF" },
        State: "ENABLED",
        Target: {
          Arn: `${lambda?.id}.Arn`,
          RoleArn: expect.any(String),
          RetryPolicy: { MaximumRetryAttempts: 0, MaximumEventAgeInSeconds: 60 },
        },
      }),
    ]);
  });

  test("Lambda tries a failed run no second time either: two late looks would count as two observations", () => {
    expect(stack.of("AWS::Lambda::EventInvokeConfig").map((one) => one.properties)).toEqual([
      { FunctionName: lambda?.id, Qualifier: "$LATEST", MaximumRetryAttempts: 0, MaximumEventAgeInSeconds: 60 },
    ]);
  });

  test("a run ends before the next one starts", () => {
    expect(lambda?.properties.Timeout).toBe(58);
  });

  test("its role may run this function and nothing else, and is the Scheduler's for this group only", () => {
    const target = z.object({ RoleArn: z.string() }).parse(schedules[0]?.properties.Target);
    const role = stack.of("AWS::IAM::Role").find((one) => `${one.id}.Arn` === target.RoleArn);
    if (!role) throw new Error("a schedule without a role");
    expect(statementsOf(role, stack)).toMatchObject([
      { Effect: "Allow", Action: ["lambda:InvokeFunction"], Resource: [`${lambda?.id}.Arn`], Condition: {} },
    ]);
    expect(statementsOf(role, stack)).toHaveLength(1);
    const [group] = stack.of("AWS::Scheduler::ScheduleGroup");
    expect(role.properties.AssumeRolePolicyDocument).toMatchObject({
      Statement: [
        {
          Action: "sts:AssumeRole",
          Principal: { Service: "scheduler.amazonaws.com" },
          Condition: { StringEquals: { "aws:SourceAccount": "111122223333", "aws:SourceArn": `${group?.id}.Arn` } },
        },
      ],
    });
    expect(schedules[0]?.properties.GroupName).toBe(group?.id);
  });

  test("can be switched off; then it rings no alarm that it doesn't run", () => {
    using off = synthesizeConfig({
      ...SMALLEST_CONFIG,
      policy: ENABLED,
      schedules: { fencing: { enabled: false, reservedConcurrency: 2 } },
    });
    expect(off.of("AWS::Scheduler::Schedule").map((one) => one.properties.State)).toEqual(["DISABLED"]);
    expect(named("AWS::Lambda::Function", "FunctionName", off)?.properties.ReservedConcurrentExecutions).toBe(2);
    expect(off.of("AWS::CloudWatch::Alarm").map((one) => one.id)).toEqual(
      stack
        .of("AWS::CloudWatch::Alarm")
        .map((one) => one.id)
        .filter((id) => !id.includes("schedulestopped")),
    );
  });
});

describe("fence-node", () => {
  const allowedIn = (from: Synthesized): readonly Statement[] => {
    const role = named("AWS::IAM::Role", "RoleName", from);
    if (!role) throw new Error("fence-node without a role");
    return statementsOf(role, from).filter((one) => one.Effect === "Allow");
  };
  const ending = (from: Synthesized) => allowedIn(from).filter((one) => one.Action.some((a) => /Stop|Termin/.test(a)));

  test("may do exactly this in AWS, nothing with queues, nothing through the groups of instances", () => {
    expect(allowedIn(stack).map(({ Sid, Action, Resource }) => [Sid, Action, Resource])).toEqual([
      ["AskForProof", ["ec2:DescribeInstances"], ["*"]],
      ["EndSilentInstances", ["ec2:StopInstances", "ec2:TerminateInstances"], [INSTANCES]],
      ["WriteOwnLogs", ["logs:CreateLogStream", "logs:PutLogEvents"], [expect.stringMatching(/Logs.*\.Arn$/)]],
      ["SendTraces", ["xray:PutTraceSegments", "xray:PutTelemetryRecords"], ["*"]],
      ["JoinVpc", expect.arrayContaining(["ec2:CreateNetworkInterface"]), ["*"]],
    ]);
  });

  test("may end only instances that carry the cluster's tag, whatever its value", () => {
    expect(ending(stack)).toMatchObject([
      { Condition: { Null: { "aws:ResourceTag/kubernetes.io/cluster/blue": ["false"] } } },
    ]);
  });

  test("where the policy names another tag and its value, may end only instances that have both", () => {
    const policy = { ...ENABLED, requireTag: { name: "owner", value: "platform" } };
    using tagged = synthesizeConfig({ ...SMALLEST_CONFIG, policy });
    expect(ending(tagged)).toMatchObject([{ Condition: { StringEquals: { "aws:ResourceTag/owner": ["platform"] } } }]);
  });

  test("may end no instance at all where every policy says never", () => {
    using never = synthesizeConfig({
      ...SMALLEST_CONFIG,
      policy: { default: { fencing: { enabled: true, stop: "never" } } },
    });
    expect(ending(never)).toEqual([]);
    using some = synthesizeConfig({
      ...SMALLEST_CONFIG,
      policy: {
        default: { fencing: { enabled: true, stop: "never" } },
        overrides: [{ selector: { matchLabels: { pool: "db" } }, policy: { fencing: { stop: "stop" } } }],
      },
    });
    expect(ending(some)).toHaveLength(1);
  });

  test("is told just what its environment's schema asks for", () => {
    const { Variables } = z
      .object({ Variables: z.record(z.string(), z.string()) })
      .parse(lambda?.properties.Environment);
    expect([...Object.keys(Variables), "AWS_REGION"].sort()).toEqual(Object.keys(environmentSchema.shape).sort());
    expect(environmentSchema.parse({ ...Variables, AWS_REGION: "eu-west-1" })).toMatchObject({
      FUNCTION: "fence-node",
      CLUSTER_NAME: "blue",
      TOKEN_AUDIENCE: "nodekeeper-relay/blue/eu-west-1",
    });
  });

  test("has the policy and the API's certificates beside its handler, as drain-node has", () => {
    const policies = readAssets(stack, BUNDLE_FILES.policy).map((text): unknown => JSON.parse(text));
    expect(policies).toEqual([policySchema.parse(ENABLED), policySchema.parse(ENABLED)]);
    expect(readAssets(stack, BUNDLE_FILES.apiCa)).toEqual([expect.stringMatching(/^-----BEGIN/), expect.any(String)]);
  });
});

describe("it rings", () => {
  const ofFencing = stack
    .of("AWS::CloudWatch::Alarm")
    .map((one) => alarmSchema.parse(one.properties))
    .filter((one) => one.AlarmName.startsWith(NAME));

  test("when a brake holds it back, at once", () => {
    expect(watching(FENCING_METRICS.heldByBrake)).toMatchObject([
      { Threshold: 1, Period: 60, Namespace: METRICS_NAMESPACE, TreatMissingData: "notBreaching" },
    ]);
  });

  test("when it can't read the Leases for some passes", () => {
    expect(watching(FENCING_METRICS.passesFailed)).toMatchObject([{ Threshold: 3, Period: 300 }]);
  });

  test("when what it does about dead nodes fails again and again", () => {
    expect(watching(FENCING_METRICS.stepsFailed)).toMatchObject([{ Threshold: 3, Period: 300 }]);
  });

  test("when it hasn't run for five minutes, which is also when there is no data at all", () => {
    expect(watching("Invocations")).toMatchObject([
      { Threshold: 1, Period: 300, ComparisonOperator: "LessThanThreshold", TreatMissingData: "breaching" },
    ]);
  });

  test("when it fails or is throttled, as every function does", () => {
    const { heldByBrake, passesFailed, stepsFailed } = FENCING_METRICS;
    const own: readonly string[] = [heldByBrake, passesFailed, stepsFailed];
    const ofLambda = ["Errors", "Invocations", "Throttles"];
    expect(ofFencing.map((one) => one.MetricName).sort()).toEqual([...ofLambda, ...own].sort());
  });

  test("and each alarm has its page in the runbook, and a place on the dashboard", () => {
    const runbook = readFileSync(join(import.meta.dirname, "../../docs/runbook.md"), "utf8");
    const headings = [...runbook.matchAll(/^## (.+)$/gm)].map(([, heading = ""]) =>
      heading.toLowerCase().replaceAll(" ", "-"),
    );
    for (const alarm of ofFencing) expect(headings).toContain(alarm.AlarmDescription.split("runbook.md#")[1]);
    const body = String(stack.of("AWS::CloudWatch::Dashboard")[0]?.properties.DashboardBody);
    for (const alarm of stack.of("AWS::CloudWatch::Alarm")) expect(body).toContain(`${alarm.id}.Arn`);
    for (const metric of Object.values(FENCING_METRICS)) expect(body).toContain(metric);
  });

  function watching(metric: string) {
    return ofFencing.filter((one) => one.MetricName === metric);
  }
});

describe("a configuration is refused, with the sum that shows why,", () => {
  test.each([
    [
      "when T_safe is below 3W",
      { proof: "watchdog", safeAfterSeconds: 186 },
      /policy\.default\.fencing.*safeAfterSeconds 186 s.*3 x W 60 s \+ E 5 s \+ 2 s = 187 s/,
    ],
    [
      "when T_safe is below G + 2W",
      { proof: "watchdog", bound: "G+2W", safeAfterSeconds: 136 },
      /policy\.default\.fencing.*safeAfterSeconds 136 s.*G 10 s \+ 2 x W 60 s \+ E 5 s \+ 2 s = 137 s/,
    ],
    [
      "when T_safe is a Lease's usual 60 s against a dog of 60 s",
      { proof: "watchdog", safeAfterSeconds: 60 },
      /safeAfterSeconds 60 s.*= 187 s/,
    ],
    ["when suspicion comes sooner than a minute", { suspectAfterSeconds: 59 }, /fencing\.suspectAfterSeconds/],
  ])("%s", (_, fencing, fault) => {
    const policy = { default: { fencing: { enabled: true, ...fencing } } };
    expect(() => synthesizeConfig({ ...SMALLEST_CONFIG, policy })).toThrow(fault);
  });

  test("for the nodes of an override too, where what it leaves out is the default's", () => {
    const overrides = [{ selector: { matchLabels: { a: "b" } }, policy: { fencing: { safeAfterSeconds: 100 } } }];
    expect(() => synthesizeConfig({ ...SMALLEST_CONFIG, policy: { ...ENABLED, overrides } })).toThrow(
      /policy\.overrides\.0\.policy\.fencing.*safeAfterSeconds 100 s.*= 187 s/,
    );
  });

  test("but not when T_safe is just long enough", () => {
    const exact = (fencing: object) => ({ default: { fencing: { enabled: true, proof: "watchdog", ...fencing } } });
    for (const policy of [exact({ safeAfterSeconds: 187 }), exact({ bound: "G+2W", safeAfterSeconds: 137 })]) {
      using made = synthesizeConfig({ ...SMALLEST_CONFIG, policy });
      expect(made.of("AWS::Scheduler::Schedule")).toHaveLength(1);
    }
  });
});

const alarmSchema = z.object({
  AlarmName: z.string(),
  AlarmDescription: z.string(),
  Namespace: z.string(),
  MetricName: z.string(),
  Threshold: z.number(),
  Period: z.number(),
  ComparisonOperator: z.string(),
  TreatMissingData: z.string(),
});
