/** An installation as a whole: its names, its own files beside the code, and the audit of the template. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import * as z from "zod";
import { BUNDLE_FILES } from "../../shared/domain/function-environment.ts";
import { policySchema } from "../../shared/domain/policy.ts";
import { EXAMPLE_CA, readAssets, SMALLEST_CONFIG, type Synthesized, synthesizeConfig } from "./synthesized.ts";

// Outside of any test: the first synthesis loads the CDK, which takes its time.
const blue = synthesizeConfig(SMALLEST_CONFIG);
afterAll(() => blue[Symbol.dispose]());

describe("names", () => {
  test("two clusters in one account share no name", () => {
    using green = synthesizeConfig({ ...SMALLEST_CONFIG, cluster: "green" });
    const [ofBlue, ofGreen] = [namesIn(blue), namesIn(green)];
    expect(ofBlue.length).toBeGreaterThan(10);
    expect(ofBlue.filter((name) => ofGreen.includes(name))).toEqual([]);
  });

  test("the outputs lead to everything that an operator or the relay needs", () => {
    const nameOf = (id: unknown) => blue.resources.find((one) => one.id === String(id).split(".")[0])?.properties;
    expect(Object.keys(blue.outputs).sort()).toEqual([
      "DrainUrgentFunctionName",
      "DrainUrgentRoleArn",
      "EventBusName",
      "ReplayRoleArn",
      "UrgentDeadLetterQueueUrl",
      "UrgentQueueUrl",
      "UrgentRuleNames",
    ]);
    expect(nameOf(blue.outputs.UrgentQueueUrl)).toMatchObject({ QueueName: "nodekeeper-blue-drain-urgent" });
    expect(nameOf(blue.outputs.UrgentDeadLetterQueueUrl)).toMatchObject({
      QueueName: "nodekeeper-blue-drain-urgent-dead",
    });
    expect(nameOf(blue.outputs.DrainUrgentRoleArn)).toMatchObject({ RoleName: "nodekeeper-blue-drain-urgent" });
    expect(nameOf(blue.outputs.ReplayRoleArn)).toMatchObject({ RoleName: "nodekeeper-blue-replay" });
  });

  test("without account and region in the configuration, those of the deployment are used", () => {
    const { account: _, region: __, ...anywhere } = SMALLEST_CONFIG;
    using stack = synthesizeConfig({ ...anywhere, policy: { default: { fencing: { enabled: true } } } });
    expect(stack.of("AWS::Lambda::Function")[0]?.properties.Environment).toMatchObject({
      Variables: { ACCOUNT_ID: "AWS::AccountId", TOKEN_AUDIENCE: "nodekeeper-relay/blue/AWS::Region" },
    });
  });
});

describe("files beside the handler", () => {
  const policy = {
    default: { pdbPatienceSeconds: 45 },
    requireTag: { name: "kubernetes.io/cluster/blue" },
    overrides: [{ selector: { matchLabels: { pool: "batch" } }, policy: { dryRun: true } }],
  };

  test("policy.json is the policy of the configuration, defaults filled in", () => {
    using stack = synthesizeConfig({ ...SMALLEST_CONFIG, policy });
    const written: unknown = JSON.parse(readAssets(stack, BUNDLE_FILES.policy)[0] ?? "");
    expect(written).toEqual(policySchema.parse(policy));
    expect(policySchema.parse(written)).toEqual(written);
  });

  test("the API's certificates are those of the configured file", () => {
    expect(readAssets(blue, BUNDLE_FILES.apiCa)).toEqual([expect.stringMatching(/^-----BEGIN CERTIFICATE-----\n/)]);
    expect(readAssets(blue, "handler.mjs")).toEqual([expect.stringContaining("handler")]);
  });

  test("the same input is the same code; another policy is a new deployment", () => {
    using first = synthesizeConfig({ ...SMALLEST_CONFIG, policy });
    using again = synthesizeConfig({ ...SMALLEST_CONFIG, policy });
    using changed = synthesizeConfig({ ...SMALLEST_CONFIG, policy: { default: { pdbPatienceSeconds: 46 } } });
    expect(codeOf(again)).toEqual(codeOf(first));
    expect(codeOf(changed)).not.toEqual(codeOf(first));
  });

  test("a missing build is said, with the command that mends it", () => {
    expect(() => synthesizeConfig(SMALLEST_CONFIG, { bundle: "/nowhere" })).toThrow(/npm run build/);
  });
});

describe("the audit", () => {
  test("finds nothing but what is acknowledged with a reason", () => {
    using stack = synthesizeConfig({
      ...SMALLEST_CONFIG,
      network: { ...SMALLEST_CONFIG.network, endpoints: "create", vpcCidrs: ["10.0.0.0/16"] },
      policy: { default: { fencing: { enabled: true } } },
    });
    const report = reportSchema.parse(JSON.parse(readReport(stack)));
    const audit = report.pluginReports.filter((one) => one.pluginName === "AwsSolutions");
    expect(audit).toHaveLength(1);
    expect(audit[0]?.violations).toEqual([]);
    expect(new Set(audit[0]?.suppressedViolations.map((one) => one.ruleName))).toEqual(
      new Set([
        "AwsSolutions-IAM5[Resource::*]",
        "AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:ec2:eu-west-1:111122223333:instance/*]",
      ]),
    );
    for (const one of audit[0]?.suppressedViolations ?? []) expect(one.reason.length).toBeGreaterThan(20);
  });

  test("deploying with the example certificate is warned of", () => {
    expect(SMALLEST_CONFIG.api.caFile).toBe(EXAMPLE_CA);
    const warnings = blue.assembly.stacks[0]?.messages.filter((one) => one.level === "warning") ?? [];
    expect(warnings.map((one) => one.entry.data)).toEqual([expect.stringContaining("example certificate")]);
  });
});

const reportSchema = z.object({
  pluginReports: z.array(
    z.object({
      pluginName: z.string(),
      violations: z.array(z.unknown()).default([]),
      suppressedViolations: z.array(z.object({ ruleName: z.string(), reason: z.string() })).default([]),
    }),
  ),
});

function readReport(stack: Synthesized): string {
  return readFileSync(join(stack.assembly.directory, "validation-report.json"), "utf8");
}

function codeOf(stack: Synthesized): unknown {
  return stack.of("AWS::Lambda::Function")[0]?.properties.Code;
}

/** Names that this stack claims in the account: properties such as FunctionName, and the stack's own. */
function namesIn(stack: Synthesized): readonly string[] {
  const claimed = stack.resources.flatMap((resource) =>
    ["FunctionName", "RoleName", "QueueName", "LogGroupName", "AlarmName", "DashboardName", "Name"]
      .filter((key) => !(resource.type === "AWS::Lambda::EventSourceMapping" && key === "FunctionName"))
      .map((key) => resource.properties[key]),
  );
  const names = claimed.filter((name) => typeof name === "string");
  return [...names, ...stack.assembly.stacks.map((one) => one.stackName)];
}
