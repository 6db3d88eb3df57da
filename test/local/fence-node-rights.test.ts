/**
 * fence-node as it is deployed: run by its schedule, under its own role and its own Kubernetes user. A probe in its place
 * tries what these let it do; what fence-node makes of it is another suite's.
 */
import { mkdtempDisposable } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { EC2Client, RunInstancesCommand } from "@aws-sdk/client-ec2";
import { afterAll, beforeAll, expect, it } from "vitest";
import { buildBundle } from "../../scripts/build.ts";
import { ClusterModel } from "../fakes/kube-api/cluster-model.ts";
import { type EmbeddedApi, serveKubeApi } from "../fakes/kube-api/server.ts";
import { createAuthority } from "../rig/pki.ts";
import { describeReal } from "../rig/real-parts.ts";
import { waitUntil } from "../rig/wait.ts";
import { type Installation, install } from "../support/installation.ts";

const OURS = "kubernetes.io/cluster/demo";
const FOREIGN = "kubernetes.io/cluster/other";
/** The schedule fires a minute after it was made. */
const RUN = { withinMilliseconds: 120_000, everyMilliseconds: 500 };

describeReal("fence-node, as it is deployed,", ["emulator"], () => {
  const cleanup = new AsyncDisposableStack();
  let api: EmbeddedApi;
  let installation: Installation;

  beforeAll(async () => {
    const folder = cleanup.use(await mkdtempDisposable(join(tmpdir(), "nodekeeper-probe-")));
    const { directory } = await buildBundle({
      name: "fence-node",
      entry: join(import.meta.dirname, "../support/fence-probe.ts"),
      file: "handler",
      directory: join(folder.path, "fence-node"),
    });
    const model = new ClusterModel();
    model.addNode({ name: "bystander", labels: {} });
    const authority = await createAuthority();
    const { certPem, keyPem } = await authority.issue({ commonName: "api", hosts: ["127.0.0.1"] });
    api = await serveKubeApi(model, { cert: certPem, key: keyPem });
    cleanup.defer(() => api.stop());
    installation = cleanup.use(
      await install({
        kubeApi: { url: api.url, caPem: authority.certPem, token: "any" },
        policy: { default: { fencing: { enabled: true } } },
        bundles: { fenceNode: directory },
      }),
    );
    const ec2 = new EC2Client(installation.emulator.clientConfig);
    for (const Key of [OURS, FOREIGN]) {
      const Tags = [{ Key, Value: "owned" }];
      const TagSpecifications = [{ ResourceType: "instance" as const, Tags }];
      await ec2.send(new RunInstancesCommand({ ImageId: "ami-12345678", MinCount: 1, MaxCount: 1, TagSpecifications }));
    }
    ec2.destroy();
    await waitUntil("the schedule has run it", async () => (await answers()).length > 0 && (await hasEnded()), RUN);
  });
  afterAll(() => cleanup.disposeAsync());

  const log = () => {
    if (installation.fenceNode === undefined) throw new Error("fence-node was not deployed");
    return installation.fenceNode;
  };
  const hasEnded = async () => (await log().logText()).includes("END RequestId");
  const answers = async () => {
    const lines = (await log().logLines()).filter((line) => line.tried !== undefined);
    return lines.map(({ tried, answer }) => `${tried}: ${answer}`);
  };

  it("is known to the relay as its own user, who may not do what only a drain may", async () => {
    expect(await answers()).toContain("list nodes: allowed");
    expect(await answers()).toContain("list budgets: ClusterRefused");
  });

  it("may stop and terminate the cluster's own instances, and no others", async () => {
    expect((await answers()).filter((line) => line.includes("kubernetes.io"))).toEqual([
      `stop ${OURS}: allowed`,
      `terminate ${OURS}: allowed`,
      `stop ${FOREIGN}: UnauthorizedOperation`,
      `terminate ${FOREIGN}: UnauthorizedOperation`,
    ]);
  });

  it("may not put signals into the queue", async () => {
    expect(await answers()).toContain("send a signal: AccessDenied");
    expect(await installation.countMessages()).toBe(0);
  });
});
