/**
 * All that the end-to-end suite of fencing plays on, in one installation: a real cluster of many nodes with kubelets and
 * agents, EC2 in memory, and fence-node deployed. And what can be done to a node there: cut it off, stop its instance.
 */
import {
  CreateTagsCommand,
  DescribeInstancesCommand,
  EC2Client,
  RunInstancesCommand,
  type RunInstancesCommandInput,
  StopInstancesCommand,
} from "@aws-sdk/client-ec2";
import * as z from "zod";
import { SCALING_GROUP_TAG } from "../../shared/ports/instances.ts";
import { DEFAULT_CONTROLLERS } from "../rig/control-plane.ts";
import { startMoto } from "../rig/moto.ts";
import {
  create,
  createNodes,
  createPods,
  instanceIdFor,
  killKubelet,
  type NodeSeed,
  reviveKubelet,
} from "../rig/seed.ts";
import { waitUntil } from "../rig/wait.ts";
import type { FunctionLog } from "./backstage.ts";
import { type Chronicle, keepChronicle } from "./chronicle.ts";
import { type PlayedAgents, playFencingAgents } from "./fencing-agents.ts";
import { bootIdOf, CAST_POLICY, ROLE_NAMES, type Role, type RoleName, roleOf, statementOf } from "./fencing-cast.ts";
import { type Installation, install } from "./installation.ts";
import { listPods, type RealCluster, startRealCluster } from "./real-cluster.ts";

/** So many that the silent ones of the cast are less than a tenth. Their agents are absent; their kubelets are not. */
export const BYSTANDERS = 140;
/** Where the StatefulSet's pod may go when its node is dead. */
export const SPARE = "spare";
const WITH_VOLUME: readonly RoleName[] = ["stopped-by-others", "never-proven"];
const SEEDED = { withinMilliseconds: 120_000, everyMilliseconds: 500 };

export interface FencingStage extends AsyncDisposable {
  readonly cluster: RealCluster;
  readonly agents: PlayedAgents;
  readonly chronicle: Chronicle;
  readonly installation: Installation;
  readonly log: FunctionLog;
  /** Neither its kubelet nor its agent reaches the API server any more. */
  cutOff(nodeName: string): Promise<void>;
  reconnect(nodeName: string): Promise<void>;
  stopInstance(name: RoleName): Promise<void>;
  instanceState(name: RoleName): Promise<string | undefined>;
  /** Deletes the Node, and makes another one of that name: a new machine with a pod of its own. */
  makeAnew(name: RoleName): Promise<void>;
  stop(): Promise<void>;
}

export const bystander = (n: number) => `bystander-${n}`;
export const podOf = (nodeName: string) => `app-${nodeName}`;

export async function raiseFencingStage(): Promise<FencingStage> {
  await using onFailure = new AsyncDisposableStack();
  const cluster = onFailure.use(await startCluster());
  const moto = onFailure.use(await startMoto());
  const ec2 = new EC2Client(moto.clientConfig);
  onFailure.defer(() => ec2.destroy());
  const chronicle = onFailure.use(await keepChronicle(cluster));
  const agents = onFailure.use(playFencingAgents(cluster));

  const instances = await populateStage(cluster, agents, ec2);
  const installation = onFailure.use(
    await install({
      kubeApi: { url: cluster.url, caPem: cluster.caPem, token: cluster.relayToken },
      policy: CAST_POLICY,
      functionEnv: { AWS_ENDPOINT_URL_EC2: moto.endpoint },
    }),
  );
  if (installation.fenceNode === undefined) throw new Error("fence-node was not deployed");

  const running = onFailure.move();
  const stop = () => running.disposeAsync();
  const instanceOf = (name: RoleName) => instances.get(name) ?? "";
  return {
    ...{ cluster, agents, chronicle, installation, log: installation.fenceNode },
    async cutOff(nodeName) {
      agents.cutOff(nodeName);
      await killKubelet(cluster, nodeName);
    },
    async reconnect(nodeName) {
      agents.reconnect(nodeName);
      await reviveKubelet(cluster, nodeName);
    },
    stopInstance: async (name) => {
      await ec2.send(new StopInstancesCommand({ InstanceIds: [instanceOf(name)] }));
    },
    async instanceState(name) {
      const asked = new DescribeInstancesCommand({ InstanceIds: [instanceOf(name)] });
      const { Reservations = [] } = await ec2.send(asked);
      return Reservations[0]?.Instances?.[0]?.State?.Name;
    },
    async makeAnew(name) {
      const { status } = await cluster.api.call({ method: "DELETE", path: `/api/v1/nodes/${name}` });
      if (status !== 200) throw new Error(`deleting the Node ${name}: ${status}`);
      await createNodes(cluster, [{ ...seedOf(name, await launch(ec2, {})), bootId: "boot-of-another-machine" }]);
      await createPods(cluster, [{ name: `${podOf(name)}-new`, nodeName: name, spec: STAYING }]);
    },
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

async function startCluster(): Promise<RealCluster> {
  return startRealCluster({ kwok: { leases: true }, controllers: [...DEFAULT_CONTROLLERS, "statefulset-controller"] });
}

/** Gives the instances of the cast. Each of its nodes has a pod; the first one also that of a StatefulSet, with a volume. */
async function populateStage(
  cluster: RealCluster,
  agents: PlayedAgents,
  ec2: EC2Client,
): Promise<ReadonlyMap<RoleName, string>> {
  const ids = await Promise.all(ROLE_NAMES.map(async (name) => [name, await launch(ec2, roleOf(name))] as const));
  await createNodes(
    cluster,
    ids.map(([name, id]) => seedOf(name, id)),
  );
  const numbers = Array.from({ length: BYSTANDERS }, (_, n) => n + 1);
  await createNodes(
    cluster,
    numbers.map((n) => ({ name: bystander(n), instanceId: instanceIdFor(n) })),
  );
  await createPods(
    cluster,
    [...ROLE_NAMES, bystander(1)].map((nodeName) => ({ name: podOf(nodeName), nodeName, spec: STAYING })),
  );
  await create(cluster, "/apis/apps/v1/namespaces/default/statefulsets", DATABASE);
  for (const nodeName of WITH_VOLUME)
    await create(cluster, "/apis/storage.k8s.io/v1/volumeattachments", attachment(nodeName));
  await waitUntil(
    "all pods run",
    async () => {
      const pods = await listPods(cluster);
      return pods.length === ROLE_NAMES.length + 2 && pods.every(({ status }) => status.phase === "Running");
    },
    SEEDED,
  );
  // Only now: before, the pod could have gone there at once.
  await createNodes(cluster, [{ name: SPARE, instanceId: instanceIdFor(BYSTANDERS + 1) }]);
  const uids = await nodeUids(cluster);
  for (const name of ROLE_NAMES) {
    agents.start({ nodeName: name, nodeUid: uids.get(name) ?? "", statement: statementOf(name) });
  }
  return new Map(ids);
}

function seedOf(name: RoleName, instanceId: string): NodeSeed {
  const { labels, annotations } = roleOf(name);
  return { name, instanceId, bootId: bootIdOf(name), ...(labels && { labels }), ...(annotations && { annotations }) };
}

async function launch(ec2: EC2Client, { instance }: Pick<Role, "instance">): Promise<string> {
  const bought: Partial<RunInstancesCommandInput> =
    instance === "spot" ? { InstanceMarketOptions: { MarketType: "spot" } } : {};
  const asked = { ImageId: "ami-12345678", MinCount: 1, MaxCount: 1, ...bought };
  const { Instances = [] } = await ec2.send(new RunInstancesCommand(asked));
  const id = Instances[0]?.InstanceId;
  if (id === undefined) throw new Error("launching an instance: it has no id");
  const Tags = [{ Key: SCALING_GROUP_TAG, Value: "workers" }];
  if (instance === "group") await ec2.send(new CreateTagsCommand({ Resources: [id], Tags }));
  return id;
}

/** Else Kubernetes itself would tell pods to go after five minutes, and nobody could say who did. */
const STAYING = {
  tolerations: ["node.kubernetes.io/unreachable", "node.kubernetes.io/not-ready"].map((key) => {
    return { key, operator: "Exists", effect: "NoExecute" };
  }),
};

const DATABASE = {
  metadata: { name: "db" },
  spec: {
    replicas: 1,
    selector: { matchLabels: { app: "db" } },
    template: {
      metadata: { labels: { app: "db" } },
      spec: {
        ...STAYING,
        affinity: {
          nodeAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: {
              nodeSelectorTerms: [
                {
                  matchExpressions: [
                    { key: "kubernetes.io/hostname", operator: "In", values: ["stopped-by-others", SPARE] },
                  ],
                },
              ],
            },
          },
        },
        containers: [{ name: "main", image: "registry.invalid/main" }],
      },
    },
  },
};

function attachment(nodeName: RoleName): object {
  const source = { persistentVolumeName: `volume-of-${nodeName}` };
  return { metadata: { name: `attached-to-${nodeName}` }, spec: { attacher: "test.invalid", nodeName, source } };
}

async function nodeUids(cluster: RealCluster): Promise<ReadonlyMap<string, string>> {
  const { body } = await cluster.api.call({ method: "GET", path: "/api/v1/nodes" });
  const { items } = nodeList.parse(body);
  return new Map(items.map(({ metadata: { name, uid } }) => [name, uid]));
}

const nodeList = z.object({ items: z.array(z.object({ metadata: z.object({ name: z.string(), uid: z.string() }) })) });
