/** A function that acts on nodes: its own role with its grants, its log group, and the alarms that every function has. */
import { ArnFormat, type Duration, RemovalPolicy, Stack } from "aws-cdk-lib";
import { type PolicyStatement, Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
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
import { type FunctionName, roleName } from "../../shared/domain/identity.ts";
import type { DeployConfig } from "../deploy-config.ts";
import type { AlarmBoard } from "./alarm-board.ts";
import { watchFunction } from "./function-alarms.ts";
import { acknowledgeStars, grantsOf } from "./function-grants.ts";
import type { FunctionNetwork } from "./function-network.ts";

export interface NodeFunctionProps {
  readonly fn: FunctionName;
  readonly description: string;
  readonly config: DeployConfig;
  readonly code: Code;
  readonly timeout: Duration;
  /** All that the schema of its environment asks for, but what Lambda sets itself. */
  readonly environment: Readonly<Record<string, string>>;
  /** What it may do in AWS besides what every function needs to run at all. */
  readonly grants: readonly PolicyStatement[];
  /** Invocations set aside for it; null: it shares the account's quota. */
  readonly reservedConcurrency: number | null;
  readonly network: FunctionNetwork;
  readonly alarms: AlarmBoard;
}

/** Uses 100 MB; the rest buys CPU, which halves a cold start when two minutes are all there is. */
const MEMORY_MEGABYTES = 1024;

export class NodeFunction extends Construct {
  readonly lambda: LambdaFunction;
  readonly role: Role;

  constructor(scope: Construct, id: string, props: NodeFunctionProps) {
    super(scope, id);
    const { fn, config, network } = props;
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
      inlinePolicies: { grants: grantsOf({ own: props.grants, logGroup, functionArn }) },
    });
    acknowledgeStars(this.role);

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
      environment: { ...props.environment },
      logGroup,
      loggingFormat: LoggingFormat.JSON,
      applicationLogLevelV2: ApplicationLogLevel[config.logLevel],
      tracing: Tracing.ACTIVE,
      recursiveLoop: RecursiveLoop.TERMINATE,
      vpc: network.vpc,
      vpcSubnets: { subnets: network.subnets },
      securityGroups: network.securityGroups,
      ...(props.reservedConcurrency !== null && { reservedConcurrentExecutions: props.reservedConcurrency }),
    });
    watchFunction(this.lambda, props);
  }
}
