/** Whatever goes wrong between function and API server, the end state is the same: nodes cordoned and empty, nothing lost. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { describeReal } from "../rig/real-parts.ts";
import { create, createPods } from "../rig/seed.ts";
import { waitUntil } from "../rig/wait.ts";
import { EVERY_TROUBLE, SILENT_NODE } from "../support/faults/every-trouble.ts";
import { type ProxyBefore, startProxyBefore } from "../support/faults/proxy-before.ts";
import { type Installation, install } from "../support/installation.ts";
import { readMeasurements, valuesOf } from "../support/measurements.ts";
import {
  instanceIdOf,
  isDrained,
  listNodes,
  listOurEvents,
  listPods,
  nodeName,
  populate,
  type RealCluster,
  startRealCluster,
} from "../support/real-cluster.ts";

const NODES = 10;

describeReal("faults on the way to the API server", ["control plane", "emulator"], () => {
  let cluster: RealCluster;
  let proxy: ProxyBefore;
  let installation: Installation;

  beforeAll(async () => {
    cluster = await startRealCluster({ kwok: { podStopMilliseconds: 2_000, leases: false } });
    await populate(cluster, { nodes: NODES, pods: 3 });
    await protectByBudget(cluster);
    proxy = await startProxyBefore(cluster, { rules: EVERY_TROUBLE, seed: 7 });
    installation = await install({
      kubeApi: proxy.kubeApi,
      policy: { default: { pdbPatienceSeconds: 5, podGraceSeconds: { max: 100 } } },
    });
    await putDoubledAndDirty(installation);
    await waitUntil("all nodes are drained and every message is settled", isOver, {
      withinMilliseconds: 150_000,
      everyMilliseconds: 500,
    });
  });

  afterAll(async () => {
    await installation?.stop();
    await proxy?.stop();
    await cluster?.stop();
  });

  async function isOver(): Promise<boolean> {
    const drained = (await listNodes(cluster)).every(isDrained);
    return drained && (await installation.countMessages()) === 0 && (await installation.deadLetters()).length === 2;
  }

  it("each fault was met, so that none of this was tested in vain", () => {
    expect(proxy.met().filter(({ times }) => times === 0)).toEqual([]);
  });

  it("a step that gets no answer ends as unavailable, with the reason, and is taken again", async () => {
    const decisions = (await installation.logLines()).filter(
      ({ message, instanceId }) => message === "signal decided" && instanceId === instanceIdOf(SILENT_NODE),
    );
    expect(decisions).toContainEqual(
      expect.objectContaining({
        decision: "unavailable",
        outcome: "again",
        because: expect.stringMatching(/was not answered: no word for 2000 ms/),
      }),
    );
    expect(decisions.at(-1)).toMatchObject({ decision: "drained" });
  });

  it("all nodes end cordoned, empty and called drained", async () => {
    expect((await listNodes(cluster)).filter((node) => !isDrained(node)).map(({ metadata }) => metadata.name)).toEqual(
      [],
    );
    expect(await listPods(cluster)).toEqual([]);
  });

  it("case 47: an Event names the pod and the budget that blocked it", async () => {
    const blocked = (await listOurEvents(cluster)).filter(({ reason }) => reason === "EvictionBlocked");
    expect(blocked).toMatchObject([
      { involvedObject: { kind: "Pod", name: "db" }, message: expect.stringContaining("one-db") },
    ]);
  });

  it("the one pod that is deleted past its budget is counted once", async () => {
    const deletions = valuesOf("podsDeletedPastBudget", readMeasurements(await installation.logLines()));
    expect(deletions).toEqual([1]);
  });

  it("case 1: the unreadable messages are in the dead letters with their reason, and nothing else is", async () => {
    const letters = await installation.deadLetters();
    expect(letters.map(({ reason }) => reason).toSorted()).toEqual([
      expect.stringContaining("instance-action"),
      expect.stringContaining("instance-id"),
    ]);
  });

  it("case 32: every message has one info line for each decision, with the reason", async () => {
    const lines = (await installation.logLines()).filter(({ message }) => message === "signal decided");
    expect(lines.length).toBeGreaterThanOrEqual(2 * NODES);
    for (const line of lines) {
      expect(line).toMatchObject({
        level: "INFO",
        signal: expect.stringContaining("spot-interruption/"),
        instanceId: expect.stringContaining("i-"),
        decision: expect.any(String),
        because: expect.stringMatching(/./),
      });
    }
    expect(lines.filter(({ decision }) => decision === "drained").length).toBeGreaterThanOrEqual(NODES);
  });

  it("no log line holds a token or a signed URL", async () => {
    const text = JSON.stringify([await installation.logLines(), await installation.relay.log()]);
    expect(text).not.toMatch(/k8s-aws-v1\.|X-Amz-Signature|Bearer /);
  });
});

/** A pod with 100 s of grace behind a budget that never yields: due to be deleted past it some 15 s after the notice. */
async function protectByBudget(cluster: RealCluster): Promise<void> {
  await create(cluster, "/apis/policy/v1/namespaces/default/poddisruptionbudgets", {
    metadata: { name: "one-db" },
    spec: { minAvailable: 1, selector: { matchLabels: { app: "db" } } },
  });
  await createPods(cluster, [
    { name: "db", nodeName: nodeName(1), labels: { app: "db" }, spec: { terminationGracePeriodSeconds: 100 } },
  ]);
  await waitUntil("the budget counts its pod", async () => {
    const path = "/apis/policy/v1/namespaces/default/poddisruptionbudgets/one-db/status";
    return JSON.stringify((await cluster.api.call({ method: "GET", path })).body).includes('"currentHealthy":1');
  });
}

/** Every event twice, and one in ten of them unreadable. */
async function putDoubledAndDirty(installation: Installation): Promise<void> {
  const ids = Array.from({ length: NODES }, (_, n) => instanceIdOf(n + 1));
  const spot = (detail: object) => ({
    source: "aws.ec2",
    detailType: "EC2 Spot Instance Interruption Warning",
    detail,
  });
  const good = ids.map((id) => spot({ "instance-id": id, "instance-action": "terminate" }));
  await installation.putEvents([
    ...good,
    spot({ "instance-id": ids[0], "instance-action": "Terminate" }),
    ...good,
    spot({ "instance-action": "terminate" }),
  ]);
}
