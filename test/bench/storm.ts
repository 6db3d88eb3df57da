/** How fast a storm of notices is over, beside the direct limit: one process that only cordons and evicts, as the same user. */
import { Agent, request } from "node:https";
import pLimit from "p-limit";
import { buildBundles } from "../../scripts/build.ts";
import { kubernetesUser } from "../../shared/domain/identity.ts";
import { waitUntil } from "../rig/wait.ts";
import { install } from "../support/installation.ts";
import { listPods, nodeName, populate, type RealCluster, startRealCluster } from "../support/real-cluster.ts";
import { describeRequests, raiseStorm, sumRequests } from "../support/storm.ts";

const POD_STOP_MILLISECONDS = 5_000;
/** Requests of the direct process under way at once. */
const DIRECT_WIDTH = 64;

export async function benchStorm({ nodes, pods }: { nodes: number; pods: number }): Promise<void> {
  const say = (what: string) => console.error(`… ${what}`);
  await buildBundles();
  say("starting a real control plane");
  // The direct process is the same user, so that priority and fairness treats both alike.
  await using cluster = await startRealCluster({
    kwok: { podStopMilliseconds: POD_STOP_MILLISECONDS, leases: false },
    users: [{ name: kubernetesUser("drain-urgent") }],
  });

  say(`direct: ${nodes} nodes with ${pods} pods each`);
  await populate(cluster, { nodes, pods });
  const direct = await drainDirectly(cluster, nodes);

  await cluster.kubectl("delete", "nodes", "--all");
  await populate(cluster, { nodes, pods });
  await using installation = await install({
    kubeApi: { url: cluster.url, caPem: cluster.caPem, token: cluster.relayToken },
    onProgress: say,
  });
  say("nodekeeper: the same through bus, queue, functions and relay");
  const { seconds, requests } = await raiseStorm(installation, cluster, nodes);

  const ratio = (ours: number, theirs: number) => `${(ours / theirs).toFixed(2)}×`;
  const row = (what: string, theirs: number, ours: number) =>
    console.log(
      `${what.padEnd(22)}${theirs.toFixed(2).padStart(9)} s${ours.toFixed(2).padStart(11)} s${ratio(ours, theirs).padStart(9)}`,
    );
  console.log(`\n${nodes} nodes, ${pods} pods each, ${POD_STOP_MILLISECONDS / 1000} s to stop`);
  console.log(`${"".padEnd(22)}${"direct".padStart(11)}${"nodekeeper".padStart(13)}${"ratio".padStart(9)}`);
  row("all cordoned after", direct.cordoned, seconds.cordoned);
  row("all empty after", direct.empty, seconds.empty);
  console.log(`queue empty after ${seconds.settled.toFixed(2)} s`);
  const others = sumRequests(requests) - nodes * pods;
  console.log(`API requests per node besides one eviction for each pod: ${(others / nodes).toFixed(1)}`);
  console.log(describeRequests(requests));
}

async function drainDirectly(cluster: RealCluster, nodes: number) {
  const agent = new Agent({ keepAlive: true, maxSockets: DIRECT_WIDTH, ca: cluster.caPem });
  const token = cluster.userToken(kubernetesUser("drain-urgent"));
  const send = (method: string, path: string, contentType: string, body: object) =>
    new Promise<void>((resolve, reject) => {
      const headers = { authorization: `Bearer ${token}`, "content-type": contentType };
      const sent = request(new URL(path, cluster.url), { method, agent, headers }, (response) => {
        response.resume().on("end", () => {
          const { statusCode = 0 } = response;
          if (statusCode < 300) resolve();
          else reject(new Error(`${method} ${path}: ${statusCode}`));
        });
      });
      sent.on("error", reject).end(JSON.stringify(body));
    });
  const limit = pLimit(DIRECT_WIDTH);
  const targets = await listPods(cluster);
  const started = performance.now();
  const elapsed = () => (performance.now() - started) / 1000;

  const names = Array.from({ length: nodes }, (_, n) => nodeName(n + 1));
  const cordon = (name: string) =>
    send("PATCH", `/api/v1/nodes/${name}`, "application/merge-patch+json", { spec: { unschedulable: true } });
  await Promise.all(names.map((name) => limit(() => cordon(name))));
  const cordoned = elapsed();
  const evict = ({ metadata: { namespace, name, uid } }: (typeof targets)[number]) =>
    send("POST", `/api/v1/namespaces/${namespace}/pods/${name}/eviction`, "application/json", {
      apiVersion: "policy/v1",
      kind: "Eviction",
      metadata: { name, namespace },
      deleteOptions: { preconditions: { uid } },
    });
  await Promise.all(targets.map((pod) => limit(() => evict(pod))));
  await waitUntil("all nodes are empty", async () => (await listPods(cluster)).length === 0, {
    withinMilliseconds: 60_000,
    everyMilliseconds: 100,
  });
  agent.destroy();
  return { cordoned, empty: elapsed() };
}
