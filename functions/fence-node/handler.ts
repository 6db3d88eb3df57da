/** Wires fence-node: environment, policy, adapters, and the middleware around a run. What it exports is what Lambda runs. */
import { injectLambdaContext } from "@aws-lambda-powertools/logger/middleware";
import { MetricUnit } from "@aws-lambda-powertools/metrics";
import { logMetrics } from "@aws-lambda-powertools/metrics/middleware";
import middy from "@middy/core";
import type { Context } from "aws-lambda";
import { ec2Instances } from "../../shared/adapters/ec2-instances.ts";
import { functionApi } from "../../shared/adapters/function-api.ts";
import { connectFencingCluster } from "../../shared/adapters/kube-fencing-cluster.ts";
import { systemClock } from "../../shared/adapters/system-clock.ts";
import { openLogbook } from "../../shared/lambda/open-logbook.ts";
import { readBundle } from "../../shared/lambda/read-bundle.ts";
import { readEnvironment } from "../../shared/lambda/read-environment.ts";
import { budgetEnd, timeBudget } from "../../shared/lambda/time-budget.ts";
import { environmentSchema } from "./env.ts";
import { fenceNodes } from "./fence-node.ts";
import { openJournal } from "./journal.ts";
import { Memory } from "./tools.ts";

const env = readEnvironment(environmentSchema, process.env);
const { policy, apiCa } = readBundle(import.meta.url);

const { logger, metrics } = openLogbook(env);
const note = openJournal(logger, metrics);

const connection = connectFencingCluster(functionApi(env, apiCa, process.env));
const instances = ec2Instances({ region: env.AWS_REGION });
const memory = new Memory();

/** What the Scheduler sends says nothing: a run looks for itself. */
async function watchNodes(_event: unknown, context: Context): Promise<void> {
  metrics.addMetric("runsStarted", MetricUnit.Count, 1);
  const remainingMs = context.getRemainingTimeInMillis();
  const budget = timeBudget(remainingMs);
  await fenceNodes({
    cluster: connection.during(budget),
    instances: instances.during(budget),
    clock: systemClock,
    policy,
    note,
    memory,
    holder: context.awsRequestId,
    timeBudget: budget,
    endsAt: budgetEnd(systemClock.now(), remainingMs),
  });
}

export const handler = middy<unknown, void>()
  .use(injectLambdaContext(logger))
  .use(logMetrics(metrics, { captureColdStartMetric: true }))
  .handler(watchNodes);
