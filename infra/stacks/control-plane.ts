/**
 * Everything that one cluster has in the cloud, composed: events → queue → function, for each pace of work. How many
 * resources there are doesn't depend on how many nodes the cluster has.
 */
import { CfnOutput, Duration, Stack, type StackProps } from "aws-cdk-lib";
import { Code } from "aws-cdk-lib/aws-lambda";
import type { Construct } from "constructs";
import { urgentEvents } from "../../events/accepted.ts";
import { relayAudience, roleName } from "../../shared/domain/identity.ts";
import { AlarmBoard } from "../constructs/alarm-board.ts";
import { ClusterDashboard } from "../constructs/dashboard.ts";
import { EventRoute } from "../constructs/event-route.ts";
import { FunctionNetwork } from "../constructs/function-network.ts";
import { NodeFunction } from "../constructs/node-function.ts";
import { ReplayRole } from "../constructs/replay-role.ts";
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
  /** Folder with the handler, its chunks, policy.json and api-ca.pem. */
  readonly bundleDirectory: string;
}

export class ControlPlane extends Stack {
  constructor(scope: Construct, id: string, props: ControlPlaneProps) {
    super(scope, id, props);
    const { config } = props;
    const alarms = new AlarmBoard(this, "Alarms", { cluster: config.cluster, topicArn: config.alarms.topicArn });
    const network = new FunctionNetwork(this, "Network", config.network);
    const replay = new ReplayRole(this, "Replay", { cluster: config.cluster });

    const urgent = new WorkQueue(this, "Urgent", {
      name: roleName(config.cluster, "drain-urgent"),
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
      code: Code.fromAsset(props.bundleDirectory),
      timeout: URGENT.timeout,
      worksOff: urgent,
      concurrency: config.queues.urgent,
      api: { API_URL: config.api.url, TOKEN_AUDIENCE: this.#tokenAudience(config) },
      finishWithin: URGENT.finishWithin,
      network,
      alarms,
    });
    const routes = urgentEvents.map(
      (event) => new EventRoute(this, event.name, { event, to: urgent, deliverWithin: URGENT.deliverWithin, alarms }),
    );

    new ClusterDashboard(this, "Dashboard", {
      cluster: config.cluster,
      fn: "drain-urgent",
      lambda: drainUrgent.lambda,
      worksOff: urgent,
      alarms,
    });

    this.#tell("EventBusName", "default", "Where the rules listen");
    this.#tell("UrgentRuleNames", routes.map((route) => route.rule.ruleName).join(","), "Rules that feed the queue");
    this.#tell("UrgentQueueUrl", urgent.queue.queueUrl, "Signals under way");
    this.#tell("UrgentDeadLetterQueueUrl", urgent.deadLetters.queueUrl, "Signals that were given up");
    this.#tell("DrainUrgentFunctionName", drainUrgent.lambda.functionName, "The function that drains");
    this.#tell("DrainUrgentRoleArn", drainUrgent.role.roleArn, "For the relay's identities, or the EKS access entry");
    this.#tell("ReplayRoleArn", replay.role.roleArn, "Assume it to put a dead letter back");
  }

  /** An EKS endpoint takes tokens for its cluster's name; the relay takes tokens that open nothing else. */
  #tokenAudience({ api, cluster }: DeployConfig): string {
    return api.via === "eks" ? (api.eksClusterName ?? cluster) : relayAudience(cluster, this.region);
  }

  #tell(name: string, value: string, description: string): void {
    new CfnOutput(this, name, { value, description });
  }
}
