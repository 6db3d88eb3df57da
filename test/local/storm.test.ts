/** Case 5 on real parts: fifty notices at once, through bus, queue, shipped bundles and relay, on a real API server. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { describeReal } from "../rig/real-parts.ts";
import { type Installation, install } from "../support/installation.ts";
import {
  isDrained,
  listNodes,
  listPods,
  populate,
  type RealCluster,
  startRealCluster,
} from "../support/real-cluster.ts";
import { describeRequests, raiseStorm, type StormResult, sumRequests } from "../support/storm.ts";

const NODES = 50;
const PODS = 10;
/** What a node's drain may cost besides one eviction for each pod. */
const REQUESTS_PER_NODE = 12;

describeReal("a storm of 50 notices", ["control plane", "emulator"], () => {
  let cluster: RealCluster;
  let installation: Installation;
  let storm: StormResult;

  beforeAll(async () => {
    cluster = await startRealCluster({ kwok: { podStopMilliseconds: 5_000, leases: false } });
    await populate(cluster, { nodes: NODES, pods: PODS });
    installation = await install({ kubeApi: { url: cluster.url, caPem: cluster.caPem, token: cluster.relayToken } });
    storm = await raiseStorm(installation, cluster, NODES);
  });

  afterAll(async () => {
    await installation?.stop();
    await cluster?.stop();
  });

  it("case 5: cordons all fifty and loses none", async () => {
    const nodes = await listNodes(cluster);
    expect(nodes.filter(isDrained).length).toBe(NODES);
  });

  it("leaves no pod behind", async () => {
    expect(await listPods(cluster)).toEqual([]);
  });

  it("leaves nothing in the dead letters", async () => {
    expect(await installation.deadLetters()).toEqual([]);
  });

  it(`asks the API server at most ${REQUESTS_PER_NODE} times for each node, besides one eviction for each pod`, () => {
    const others = sumRequests(storm.requests) - NODES * PODS;
    expect(others / NODES, describeRequests(storm.requests)).toBeLessThanOrEqual(REQUESTS_PER_NODE);
  });

  it("does everything as the one user that it may be", () => {
    expect(new Set(storm.requests.map(({ user }) => user))).toEqual(new Set(["nodekeeper:drain-urgent"]));
  });
});
