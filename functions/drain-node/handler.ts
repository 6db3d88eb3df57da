/** Wires drain-node: environment, policy, adapters, and the middleware around the batch. What it exports is what Lambda runs. */
import { injectLambdaContext } from "@aws-lambda-powertools/logger/middleware";
import { MetricUnit } from "@aws-lambda-powertools/metrics";
import { logMetrics } from "@aws-lambda-powertools/metrics/middleware";
import { SQSClient } from "@aws-sdk/client-sqs";
import middy from "@middy/core";
import type { Context, SQSBatchResponse, SQSEvent } from "aws-lambda";
import { urgentEvents } from "../../events/accepted.ts";
import { ec2Instances } from "../../shared/adapters/ec2-instances.ts";
import { functionApi } from "../../shared/adapters/function-api.ts";
import { connectCluster } from "../../shared/adapters/kube-cluster.ts";
import { sqsSignalQueue } from "../../shared/adapters/sqs-signal-queue.ts";
import { systemClock } from "../../shared/adapters/system-clock.ts";
import { handleBatch } from "../../shared/lambda/handle-batch.ts";
import { openLogbook } from "../../shared/lambda/open-logbook.ts";
import { readBundle } from "../../shared/lambda/read-bundle.ts";
import { readEnvironment } from "../../shared/lambda/read-environment.ts";
import { timeBudget } from "../../shared/lambda/time-budget.ts";
import { drainNodes } from "./drain-node.ts";
import { environmentSchema } from "./env.ts";
import { openJournal } from "./journal.ts";
import { readMessage } from "./read-message.ts";
import { Memory } from "./tools.ts";

/** Settling a batch must fit the second and a half that the time budget leaves at the end. */
const SQS_ATTEMPTS = 2;
// Without the last one the SDK only warns.
const SQS_TIMEOUTS = { connectionTimeout: 400, requestTimeout: 600, throwOnRequestTimeout: true };

const env = readEnvironment(environmentSchema, process.env);
const { policy, apiCa } = readBundle(import.meta.url);

const { logger, metrics } = openLogbook(env);
const note = openJournal(logger, metrics);

const region = env.AWS_REGION;
const connection = connectCluster(functionApi(env, apiCa, process.env));
const instances = ec2Instances({ region });
const queue = sqsSignalQueue({
  client: new SQSClient({ region, maxAttempts: SQS_ATTEMPTS, requestHandler: SQS_TIMEOUTS }),
  queueUrl: env.QUEUE_URL,
  deadLetterQueueUrl: env.DEAD_LETTER_QUEUE_URL,
});
const memory = new Memory();
const door = { accepted: urgentEvents, home: { account: env.ACCOUNT_ID, region } };

async function handleSignals(event: SQSEvent, context: Context): Promise<SQSBatchResponse> {
  metrics.addMetric("messagesReceived", MetricUnit.Count, event.Records.length);
  const budget = timeBudget(context.getRemainingTimeInMillis());
  const tools = {
    cluster: connection.during(budget),
    instances: instances.during(budget),
    clock: systemClock,
    policy,
    clusterName: env.CLUSTER_NAME,
    note,
    memory,
    timeBudget: budget,
  };
  return handleBatch(event.Records, {
    read: (record) => readMessage(record, door, note),
    step: (signals) => drainNodes(signals, tools),
    queue,
    onUnsettled: (messages, error) =>
      note({ kind: "messages-unsettled", messageIds: messages.map(({ messageId }) => messageId), error }),
  });
}

export const handler = middy<SQSEvent, SQSBatchResponse>()
  .use(injectLambdaContext(logger))
  .use(logMetrics(metrics, { captureColdStartMetric: true }))
  .handler(handleSignals);
