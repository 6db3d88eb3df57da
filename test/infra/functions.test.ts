/** Functions: what they may do, how they are fed, and what they are told. */
import { afterAll, describe, expect, test } from "vitest";
import * as z from "zod";
import { environmentSchema } from "../../functions/drain-node/env.ts";
import { statementsOf } from "./policies.ts";
import { SMALLEST_CONFIG, synthesizeConfig } from "./synthesized.ts";

const stack = synthesizeConfig(SMALLEST_CONFIG);
afterAll(() => stack[Symbol.dispose]());
const functions = stack.of("AWS::Lambda::Function");
const roles = stack.of("AWS::IAM::Role");
const roleOf = (roleArn: unknown) => roles.find((role) => `${role.id}.Arn` === roleArn);

/** Actions that know no narrower resource than "*". https://docs.aws.amazon.com/service-authorization/latest/reference/ */
const WITHOUT_RESOURCES = [
  "ec2:AssignPrivateIpAddresses",
  "ec2:CreateNetworkInterface",
  "ec2:DeleteNetworkInterface",
  "ec2:DescribeInstances",
  "ec2:DescribeNetworkInterfaces",
  "ec2:DescribeSubnets",
  "ec2:UnassignPrivateIpAddresses",
  "xray:PutTelemetryRecords",
  "xray:PutTraceSegments",
];

test("there is one function, whatever the size of the cluster", () => {
  expect(functions.map((one) => one.properties.FunctionName)).toEqual(["nodekeeper-blue-drain-urgent"]);
});

describe("every function", () => {
  test("has a role of its own, named as the relay knows it, without managed policies", () => {
    expect(new Set(functions.map((one) => one.properties.Role)).size).toBe(functions.length);
    for (const lambda of functions) {
      const role = roleOf(lambda.properties.Role);
      expect(role?.properties.RoleName).toBe(lambda.properties.FunctionName);
      expect(role?.properties.ManagedPolicyArns).toBeUndefined();
    }
  });

  test("is allowed no action by a pattern, and everything only where AWS knows nothing narrower", () => {
    for (const role of roles) {
      const allowed = statementsOf(role, stack).filter((one) => one.Effect === "Allow");
      expect(allowed.flatMap((one) => one.Action).filter((action) => action.includes("*"))).toEqual([]);
      const onEverything = allowed.filter((one) => one.Resource.some((resource) => resource.endsWith("*")));
      const isFunction = functions.some((lambda) => roleOf(lambda.properties.Role) === role);
      expect(onEverything.flatMap((one) => one.Action).sort()).toEqual(isFunction ? WITHOUT_RESOURCES : []);
    }
  });

  test("can't use from its code the network rights that Lambda needs for it", () => {
    for (const lambda of functions) {
      const role = roleOf(lambda.properties.Role);
      if (!role) throw new Error("a function without a role");
      const denied = statementsOf(role, stack).filter((one) => one.Effect === "Deny");
      expect(denied).toHaveLength(1);
      expect(denied[0]?.Action).toContain("ec2:CreateNetworkInterface");
      expect(denied[0]?.Condition).toEqual({
        ArnEquals: {
          "lambda:SourceFunctionArn": [
            `arn:AWS::Partition:lambda:eu-west-1:111122223333:function:${String(lambda.properties.FunctionName)}`,
          ],
        },
      });
    }
  });

  test("runs on arm64 with Node 24, traced, in the VPC, and ends loops that feed on themselves", () => {
    for (const { properties } of functions) {
      expect(properties).toMatchObject({
        Runtime: "nodejs24.x",
        Architectures: ["arm64"],
        Handler: "handler.handler",
        TracingConfig: { Mode: "Active" },
        RecursiveLoop: "Terminate",
        VpcConfig: {
          SubnetIds: SMALLEST_CONFIG.network.subnetIds,
          SecurityGroupIds: SMALLEST_CONFIG.network.securityGroupIds,
        },
      });
    }
  });

  test("writes to a log group of its own that forgets after a while", () => {
    for (const { properties } of functions) {
      const group = stack
        .of("AWS::Logs::LogGroup")
        .find((one) => one.properties.LogGroupName === `/aws/lambda/${String(properties.FunctionName)}`);
      expect(group?.properties.RetentionInDays).toBe(30);
      expect(properties.LoggingConfig).toMatchObject({
        LogGroup: group?.id,
        LogFormat: "JSON",
        ApplicationLogLevel: "INFO",
      });
    }
  });

  test("is told just what its environment's schema asks for", () => {
    for (const { properties } of functions) {
      const { Variables } = z.object({ Variables: z.record(z.string(), z.string()) }).parse(properties.Environment);
      expect(Object.keys(Variables).sort()).toEqual(
        Object.keys(environmentSchema.shape)
          .filter((key) => key !== "AWS_REGION")
          .sort(),
      );
      const urls = { QUEUE_URL: "https://sqs.test/q", DEAD_LETTER_QUEUE_URL: "https://sqs.test/d" };
      const environment = environmentSchema.parse({ ...Variables, ...urls, AWS_REGION: "eu-west-1" });
      expect(environment.TOKEN_AUDIENCE).toBe("nodekeeper-relay/blue/eu-west-1");
      expect(Variables.QUEUE_URL).not.toBe(Variables.DEAD_LETTER_QUEUE_URL);
    }
  });

  test("takes signals at once, ten together, and settles each by itself", () => {
    const mappings = stack.of("AWS::Lambda::EventSourceMapping");
    expect(mappings.map((one) => one.properties.FunctionName)).toEqual(functions.map((one) => one.id));
    for (const { properties } of mappings) {
      expect(properties).toMatchObject({
        BatchSize: 10,
        MaximumBatchingWindowInSeconds: 0,
        FunctionResponseTypes: ["ReportBatchItemFailures"],
        ScalingConfig: { MaximumConcurrency: 10 },
      });
    }
  });
});

describe("what an installation may choose", () => {
  test("concurrency is as configured, and none is set aside unless asked for", () => {
    expect(functions[0]?.properties.ReservedConcurrentExecutions).toBeUndefined();
    using chosen = synthesizeConfig({
      ...SMALLEST_CONFIG,
      queues: { urgent: { maxConcurrency: 50, reservedConcurrency: 60 } },
    });
    expect(chosen.of("AWS::Lambda::Function")[0]?.properties.ReservedConcurrentExecutions).toBe(60);
    expect(chosen.of("AWS::Lambda::EventSourceMapping")[0]?.properties.ScalingConfig).toEqual({
      MaximumConcurrency: 50,
    });
  });

  test("towards an EKS endpoint, tokens are signed for the cluster's name there", () => {
    using eks = synthesizeConfig({
      ...SMALLEST_CONFIG,
      api: { ...SMALLEST_CONFIG.api, via: "eks", eksClusterName: "Blue_1" },
    });
    expect(eks.of("AWS::Lambda::Function")[0]?.properties.Environment).toMatchObject({
      Variables: { TOKEN_AUDIENCE: "Blue_1", API_URL: "https://relay.example.com:8443" },
    });
  });

  test("endpoints that are made let in the whole VPC, since they answer for all of it", () => {
    expect(stack.of("AWS::EC2::VPCEndpoint")).toEqual([]);
    using made = synthesizeConfig({
      ...SMALLEST_CONFIG,
      network: { ...SMALLEST_CONFIG.network, endpoints: "create", vpcCidrs: ["10.0.0.0/16", "10.1.0.0/16"] },
    });
    const endpoints = made.of("AWS::EC2::VPCEndpoint");
    expect(endpoints.map((one) => String(one.properties.ServiceName).split(".").at(-1)).sort()).toEqual(["ec2", "sqs"]);
    for (const { properties } of endpoints) {
      expect(properties).toMatchObject({ PrivateDnsEnabled: true, SubnetIds: SMALLEST_CONFIG.network.subnetIds });
    }
    const [group] = made.of("AWS::EC2::SecurityGroup");
    expect(group?.properties.SecurityGroupIngress).toMatchObject([
      { CidrIp: "10.0.0.0/16", FromPort: 443, ToPort: 443 },
      { CidrIp: "10.1.0.0/16", FromPort: 443, ToPort: 443 },
    ]);
  });
});
