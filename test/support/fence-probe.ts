/** Runs in the place of fence-node: tries what its role and its user may do, and may not, and logs each answer. */
import { readFileSync } from "node:fs";
import {
  DescribeInstancesCommand,
  EC2Client,
  StopInstancesCommand,
  TerminateInstancesCommand,
} from "@aws-sdk/client-ec2";
import { SendMessageCommand, SQSClient } from "@aws-sdk/client-sqs";
import type { Context } from "aws-lambda";
import { environmentSchema } from "../../functions/fence-node/env.ts";
import { functionApi } from "../../shared/adapters/function-api.ts";
import { connectCluster } from "../../shared/adapters/kube-cluster.ts";
import { BUNDLE_FILES } from "../../shared/domain/function-environment.ts";
import { roleName } from "../../shared/domain/identity.ts";

const env = environmentSchema.parse(process.env);
const ca = readFileSync(new URL(BUNDLE_FILES.apiCa, import.meta.url), "utf8");
const connection = connectCluster(functionApi(env, ca, process.env));
const ec2 = new EC2Client({});
const sqs = new SQSClient({});

export async function handler(_event: unknown, { invokedFunctionArn }: Context): Promise<void> {
  const cluster = connection.during(AbortSignal.timeout(10_000));
  await attempt("list nodes", () => cluster.listNodes());
  await attempt("list budgets", () => cluster.listBudgetNames("default", { a: "b" }));
  const { Reservations = [] } = await ec2.send(new DescribeInstancesCommand({}));
  for (const { InstanceId = "", Tags = [] } of Reservations.flatMap(({ Instances = [] }) => Instances)) {
    const [tag] = Tags.map(({ Key = "" }) => Key);
    const InstanceIds = [InstanceId];
    await attempt(`stop ${tag}`, () => ec2.send(new StopInstancesCommand({ InstanceIds, Force: true })));
    await attempt(`terminate ${tag}`, () => ec2.send(new TerminateInstancesCommand({ InstanceIds })));
  }
  const account = invokedFunctionArn.split(":")[4];
  const QueueUrl = `${process.env.AWS_ENDPOINT_URL}/${account}/${roleName(env.CLUSTER_NAME, "drain-urgent")}`;
  await attempt("send a signal", () => sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: "{}" })));
}

async function attempt(tried: string, ask: () => Promise<unknown>): Promise<void> {
  const answer = await ask().then(
    () => "allowed",
    (error: unknown) => (error instanceof Error ? error.name : "failed"),
  );
  console.log(JSON.stringify({ tried, answer }));
}
