/**
 * Everything that one cluster has in the cloud, composed: events → queue → function, for each pace of work. How many
 * resources there are doesn't depend on how many nodes the cluster has.
 */
import { CfnOutput, Duration, Stack, type StackProps } from "aws-cdk-lib";
import { Code } from "aws-cdk-lib/aws-lambda";
import type { Construct } from "constructs";
import { urgentEvents } from "../../events/accepted.ts";
import type { DeployedEnvironment } from "../../functions/drain-node/env.ts";
import { relayAudience, roleName } from "../../shared/domain/identity.ts";
import { AlarmBoard } from "../constructs/alarm-board.ts";
import { ClusterDashboard } from "../constructs/dashboard.ts";
import { EventRoute } from "../constructs/event-route.ts";
import { Fencing } from "../constructs/fencing.ts";
import { drainGrants } from "../constructs/function-grants.ts";
import { FunctionNetwork } from "../constructs/function-network.ts";
import { NodeFunction } from "../constructs/node-function.ts";
import { ReplayRole } from "../constructs/replay-role.ts";
import { feedSignals } from "../constructs/signal-feed.ts";
import { WorkQueue } from "../constructs/work-queue.ts";
import type { DeployConfig } from "../deploy-config.ts";

/** The pace of spot notices: two minutes, of which nothing may be lost. */
const URGENT = {
  timeout: Duration.seconds(10),
  /** Two minutes of notice, and as much again for a notice that was late: then the node is gone. */
  deliverWithin: Duration.minutes(4),
  pickUpWithin: Duration.minutes(1),
  /** The notice, and a minute in which EC2 really ends the instance. */
  finishWithin: Duration.minutes(3),
};

export interface ControlPlaneProps extends StackProps {
  readonly config: DeployConfig;
  /** Folders with a handler, its chunks, policy.json and api-ca.pem. Without one for fence-node, no node is fenced. */
  readonly bundles: { readonly drainNode: string; readonly fenceNode: string | undefined };
}

export class ControlPlane extends Stack {
  constructor(scope: Construct, id: string, { config, bundles, ...props }: ControlPlaneProps) {
    super(scope, id, props);
    const { cluster } = config;
    const alarms = new AlarmBoard(this, "Alarms", { cluster, topicArn: config.alarms.topicArn });
    const network = new FunctionNetwork(this, "Network", config.network);
    const replay = new ReplayRole(this, "Replay", { cluster });
    const api = { API_URL: config.api.url, TOKEN_AUDIENCE: this.#tokenAudience(config) };

    const urgent = new WorkQueue(this, "Urgent", {
      name: roleName(cluster, "drain-urgent"),
      worker: "drain-urgent",
      workerTimeout: URGENT.timeout,
      replayRoleArns: [replay.role.roleArn, ...config.replayRoleArns],
      pickUpWithin: URGENT.pickUpWithin,
      alarms,
    });
    replay.mayPutBackInto(urgent.queue);
    const drainUrgent = new NodeFunction(this, "DrainUrgent", {
      fn: "drain-urgent",
      description: "Drains nodes that EC2 is about to take",
      config,
      code: Code.fromAsset(bundles.drainNode),
      timeout: URGENT.timeout,
      environment: {
        FUNCTION: "drain-urgent",
        CLUSTER_NAME: cluster,
        ACCOUNT_ID: this.account,
        QUEUE_URL: urgent.queue.queueUrl,
        DEAD_LETTER_QUEUE_URL: urgent.deadLetters.queueUrl,
        ...api,
      } satisfies DeployedEnvironment,
      grants: drainGrants(urgent),
      reservedConcurrency: config.queues.urgent.reservedConcurrency,
      network,
      alarms,
    });
    feedSignals(drainUrgent, {
      fn: "drain-urgent",
      cluster,
      from: urgent,
      maxConcurrency: config.queues.urgent.maxConcurrency,
      finishWithin: URGENT.finishWithin,
      alarms,
    });
    const routes = urgentEvents.map(
      (event) => new EventRoute(this, event.name, { event, to: urgent, deliverWithin: URGENT.deliverWithin, alarms }),
    );
    const fencing =
      bundles.fenceNode === undefined
        ? undefined
        : new Fencing(this, "Fencing", { config, code: Code.fromAsset(bundles.fenceNode), api, network, alarms });

    new ClusterDashboard(this, "Dashboard", {
      cluster,
      fn: "drain-urgent",
      lambda: drainUrgent.lambda,
      worksOff: urgent,
      fencing: fencing?.fenceNode.lambda,
      alarms,
    });

    this.#tell("EventBusName", "default", "Where the rules listen");
    this.#tell("UrgentRuleNames", routes.map((route) => route.rule.ruleName).join(","), "Rules that feed the queue");
    this.#tell("UrgentQueueUrl", urgent.queue.queueUrl, "Signals under way");
    this.#tell("UrgentDeadLetterQueueUrl", urgent.deadLetters.queueUrl, "Signals that were given up");
    this.#tell("DrainUrgentFunctionName", drainUrgent.lambda.functionName, "The function that drains");
    this.#tell("DrainUrgentRoleArn", drainUrgent.role.roleArn, "For the relay's identities, or the EKS access entry");
    this.#tell("ReplayRoleArn", replay.role.roleArn, "Assume it to put a dead letter back");
    if (fencing === undefined) return;
    this.#tell("FenceNodeFunctionName", fencing.fenceNode.lambda.functionName, "The function that fences");
    this.#tell(
      "FenceNodeRoleArn",
      fencing.fenceNode.role.roleArn,
      "For the relay's identities, or the EKS access entry",
    );
    this.#tell("FenceNodeScheduleName", fencing.scheduleName, "<group>/<name> of the schedule that runs it");
  }

  /** An EKS endpoint takes tokens for its cluster's name; the relay takes tokens that open nothing else. */
  #tokenAudience({ api, cluster }: DeployConfig): string {
    return api.via === "eks" ? (api.eksClusterName ?? cluster) : relayAudience(cluster, this.region);
  }

  #tell(name: string, value: string, description: string): void {
    new CfnOutput(this, name, { value, description });
  }
}
