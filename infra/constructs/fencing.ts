/** Fencing as one capability: the function that watches the Leases, run every minute, and what rings when it is held back. */
import { Duration, Stack } from "aws-cdk-lib";
import type { Code } from "aws-cdk-lib/aws-lambda";
import { Construct } from "constructs";
import type { DeployedEnvironment } from "../../functions/fence-node/env.ts";
import { FENCING_METRICS } from "../../shared/domain/metrics.ts";
import { fencingPolicies } from "../../shared/domain/policy.ts";
import type { DeployConfig } from "../deploy-config.ts";
import type { AlarmBoard } from "./alarm-board.ts";
import { EveryMinute } from "./every-minute.ts";
import { acknowledgeEveryInstance, fenceGrants } from "./fence-grants.ts";
import type { FunctionNetwork } from "./function-network.ts";
import { NodeFunction } from "./node-function.ts";
import { ownMetric } from "./own-metrics.ts";

export interface FencingProps {
  readonly config: DeployConfig;
  readonly code: Code;
  /** Where the function finds the API, and what its tokens are good for. */
  readonly api: Pick<DeployedEnvironment, "API_URL" | "TOKEN_AUDIENCE">;
  readonly network: FunctionNetwork;
  readonly alarms: AlarmBoard;
}

const FN = "fence-node";
/** Looks as long as something is silent, and is gone when the next one starts. */
const TIMEOUT = Duration.seconds(58);
/** Within so long, a pass that fails is a hiccup; three of them are a pattern. */
const BLIND = { passes: 3, within: Duration.minutes(5) };
/** What fails once is tried again in the next pass. */
const STUCK = { steps: 3, within: Duration.minutes(5) };

export class Fencing extends Construct {
  readonly fenceNode: NodeFunction;
  /** `<group>/<name>` of the schedule that runs it. */
  readonly scheduleName: string;

  constructor(scope: Construct, id: string, props: FencingProps) {
    super(scope, id);
    const { config, alarms } = props;
    const mayStop = fencingPolicies(config.policy).some((policy) => policy.stop === "stop");
    this.fenceNode = new NodeFunction(this, "FenceNode", {
      ...props,
      fn: FN,
      description: "Moves the pods of nodes that are dead for certain",
      timeout: TIMEOUT,
      environment: this.#environment(props),
      grants: fenceGrants({ stack: Stack.of(this), tag: clusterTag(config), mayStop }),
      reservedConcurrency: config.schedules.fencing.reservedConcurrency,
    });
    if (mayStop) acknowledgeEveryInstance(this.fenceNode.role);
    const schedule = new EveryMinute(this, "EveryMinute", {
      cluster: config.cluster,
      fn: FN,
      runs: this.fenceNode,
      enabled: config.schedules.fencing.enabled,
      alarms,
    });
    this.scheduleName = schedule.scheduleName;
    this.#watch(props);
  }

  #environment({ config, api }: FencingProps): DeployedEnvironment {
    return { FUNCTION: FN, CLUSTER_NAME: config.cluster, ...api };
  }

  #watch({ config: { cluster }, alarms }: FencingProps): void {
    alarms.add({
      subject: FN,
      meaning:
        "A brake holds fencing back: too many nodes are silent at once, or too many of a group are being fenced.",
      runbook: "fencing-held-back",
      metric: ownMetric({ cluster, fn: FN, name: FENCING_METRICS.heldByBrake, statistic: "sum" }),
      threshold: 1,
    });
    alarms.add({
      subject: FN,
      meaning: "fence-node can't read the Leases, or its own observations: until it can, no dead node is noticed.",
      runbook: "fencing-blind",
      metric: ownMetric({
        cluster,
        fn: FN,
        name: FENCING_METRICS.passesFailed,
        statistic: "sum",
        period: BLIND.within,
      }),
      threshold: BLIND.passes,
    });
    alarms.add({
      subject: FN,
      meaning:
        "What fence-node does about a dead node fails again and again: an instance isn't ended, or a pod isn't deleted.",
      runbook: "fencing-stuck",
      metric: ownMetric({
        cluster,
        fn: FN,
        name: FENCING_METRICS.stepsFailed,
        statistic: "sum",
        period: STUCK.within,
      }),
      threshold: STUCK.steps,
    });
  }
}

/** The tag by which EC2 tells this cluster's instances from others. */
function clusterTag({ policy, cluster }: DeployConfig) {
  return policy.requireTag ?? { name: `kubernetes.io/cluster/${cluster}` };
}
