/** A function that works off one queue: its own role with its grants, its log group, its mapping and its alarms. */
import { ArnFormat, Duration, RemovalPolicy, Stack } from "aws-cdk-lib";
import { Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import {
  ApplicationLogLevel,
  Architecture,
  type Code,
  Function as LambdaFunction,
  LoggingFormat,
  RecursiveLoop,
  Runtime,
  Tracing,
} from "aws-cdk-lib/aws-lambda";
import { LogGroup } from "aws-cdk-lib/aws-logs";
import { Construct } from "constructs";
import type { DeployedEnvironment } from "../../functions/drain-node/env.ts";
import { roleName } from "../../shared/domain/identity.ts";
import type { DeployConfig } from "../deploy-config.ts";
import { type WatchedFunction, watchFunction } from "./function-alarms.ts";
import { acknowledgeStars, grantsOf } from "./function-grants.ts";
import type { FunctionNetwork } from "./function-network.ts";
import type { WorkQueue } from "./work-queue.ts";

export interface NodeFunctionProps extends WatchedFunction {
  readonly description: string;
  readonly config: DeployConfig;
  readonly code: Code;
  readonly timeout: Duration;
  readonly worksOff: WorkQueue;
  readonly concurrency: DeployConfig["queues"]["urgent"];
  /** Where the function finds the API, and what its tokens are good for. */
  readonly api: Pick<DeployedEnvironment, "API_URL" | "TOKEN_AUDIENCE">;
  readonly network: FunctionNetwork;
}

/** Uses 100 MB; the rest buys CPU, which halves a cold start when two minutes are all there is. */
const MEMORY_MEGABYTES = 1024;
/** Ten signals share one look at the cluster; waiting to fill a batch would cost them their first seconds. */
const BATCH = { size: 10, window: Duration.seconds(0) };

export class NodeFunction extends Construct {
  readonly lambda: LambdaFunction;
  readonly role: Role;

  constructor(scope: Construct, id: string, props: NodeFunctionProps) {
    super(scope, id);
    const { fn, config, worksOff, network } = props;
    const stack = Stack.of(this);
    // Function, role and log group have one name, known before any of them exists: the relay's list of identities and
    // the role's own grants use it.
    const name = roleName(config.cluster, fn);
    const functionArn = stack.formatArn({
      service: "lambda",
      resource: "function",
      resourceName: name,
      arnFormat: ArnFormat.COLON_RESOURCE_NAME,
    });
    const logGroup = new LogGroup(this, "Logs", {
      logGroupName: `/aws/lambda/${name}`,
      retention: config.logRetentionDays,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    this.role = new Role(this, "Role", {
      roleName: name,
      description: `nodekeeper: ${fn} of cluster ${config.cluster}`,
      assumedBy: new ServicePrincipal("lambda.amazonaws.com"),
      inlinePolicies: { grants: grantsOf({ worksOff, logGroup, functionArn }) },
    });
    acknowledgeStars(this.role);
    worksOff.admitToDeadLetters(this.role);

    this.lambda = new LambdaFunction(this, "Function", {
      functionName: name,
      description: props.description,
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      code: props.code,
      handler: "handler.handler",
      timeout: props.timeout,
      memorySize: MEMORY_MEGABYTES,
      // What the role may do is in function-grants.ts and nowhere else.
      role: this.role.withoutPolicyUpdates(),
      environment: { ...this.#environment(props) },
      logGroup,
      loggingFormat: LoggingFormat.JSON,
      applicationLogLevelV2: ApplicationLogLevel[config.logLevel],
      tracing: Tracing.ACTIVE,
      recursiveLoop: RecursiveLoop.TERMINATE,
      vpc: network.vpc,
      vpcSubnets: { subnets: network.subnets },
      securityGroups: network.securityGroups,
      ...(props.concurrency.reservedConcurrency !== null && {
        reservedConcurrentExecutions: props.concurrency.reservedConcurrency,
      }),
    });
    this.lambda.addEventSourceMapping("Signals", {
      eventSourceArn: worksOff.queue.queueArn,
      batchSize: BATCH.size,
      maxBatchingWindow: BATCH.window,
      maxConcurrency: props.concurrency.maxConcurrency,
      reportBatchItemFailures: true,
    });
    watchFunction(this.lambda, props);
  }

  #environment({ fn, config, worksOff, api }: NodeFunctionProps): DeployedEnvironment {
    return {
      FUNCTION: fn,
      CLUSTER_NAME: config.cluster,
      ACCOUNT_ID: Stack.of(this).account,
      QUEUE_URL: worksOff.queue.queueUrl,
      DEAD_LETTER_QUEUE_URL: worksOff.deadLetters.queueUrl,
      ...api,
    };
  }
}
