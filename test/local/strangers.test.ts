/** Instances that no Node has: the shipped bundle loads EC2's client only then, and asks EC2 whose they are. */
import { EC2Client, RunInstancesCommand } from "@aws-sdk/client-ec2";
import { afterAll, beforeAll, expect, it } from "vitest";
import { INSTANCE_ID_LABEL } from "../../shared/domain/keys.ts";
import { ClusterModel } from "../fakes/kube-api/cluster-model.ts";
import { type EmbeddedApi, serveKubeApi } from "../fakes/kube-api/server.ts";
import { type Moto, startMoto } from "../rig/moto.ts";
import { createAuthority } from "../rig/pki.ts";
import { describeReal } from "../rig/real-parts.ts";
import { waitUntil } from "../rig/wait.ts";
import { type Installation, install } from "../support/installation.ts";

const SOON = { withinMilliseconds: 30_000, everyMilliseconds: 250 };

describeReal("instances that no node has", ["emulator", "moto"], () => {
  const model = new ClusterModel();
  let moto: Moto;
  let api: EmbeddedApi;
  let installation: Installation;
  let ours: string;
  let foreign: string;

  beforeAll(async () => {
    moto = await startMoto();
    ours = await launch(moto, "kubernetes.io/cluster/demo");
    foreign = await launch(moto, "kubernetes.io/cluster/other");
    model.addNode({ name: "bystander", labels: {} });
    const authority = await createAuthority();
    const { certPem, keyPem } = await authority.issue({ commonName: "api", hosts: ["127.0.0.1"] });
    api = await serveKubeApi(model, { cert: certPem, key: keyPem });
    installation = await install({
      kubeApi: { url: api.url, caPem: authority.certPem, token: "any" },
      functionEnv: { AWS_ENDPOINT_URL_EC2: moto.endpoint },
    });
    await installation.interrupt([foreign, ours]);
  });

  afterAll(async () => {
    await installation?.stop();
    await api?.stop();
    await moto?.stop();
  });

  const decisionsOn = async (instanceId: string) =>
    (await installation.logLines()).filter((line) => line.instanceId === instanceId).map(({ decision }) => decision);

  it("case 2: one of another cluster is acknowledged without action, and the decision says so", async () => {
    await waitUntil("the decision is in the log", async () => (await decisionsOn(foreign)).includes("foreign"), SOON);
    expect(await decisionsOn(foreign)).toEqual(["foreign"]);
    expect(model.node("bystander")?.unschedulable).toBe(false);
  });

  it("one of ours that has yet to join is waited for, and cordoned on arrival", async () => {
    await waitUntil("the decision is in the log", async () => (await decisionsOn(ours)).includes("not-joined"), SOON);
    model.addNode({ name: "late", providerId: `aws:///eu-west-1a/${ours}`, labels: {} });
    await waitUntil("the node is cordoned", async () => model.node("late")?.unschedulable === true, SOON);
    expect(model.node("late")?.labels[INSTANCE_ID_LABEL]).toBe(ours);
    await waitUntil("the queue is empty", async () => (await installation.countMessages()) === 0, SOON);
    expect(await installation.deadLetters()).toEqual([]);
  });
});

/** Starts an instance that carries the tag, as its group would. Gives its id. */
async function launch(moto: Moto, tag: string): Promise<string> {
  const ec2 = new EC2Client(moto.clientConfig);
  const { Instances = [] } = await ec2.send(
    new RunInstancesCommand({
      ImageId: "ami-12345678",
      MinCount: 1,
      MaxCount: 1,
      TagSpecifications: [{ ResourceType: "instance", Tags: [{ Key: tag, Value: "owned" }] }],
    }),
  );
  ec2.destroy();
  const [instance] = Instances;
  if (instance?.InstanceId === undefined) throw new Error("launching an instance: it has no id");
  return instance.InstanceId;
}
