/** What becomes of requests when connections break, servers are silent, or the time of an invocation is over. */
import { createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { inspect } from "node:util";
import { describe, expect, onTestFinished, test } from "vitest";
import { connectCluster } from "../../../shared/adapters/kube-cluster.ts";
import { ClusterRefused, ClusterUnavailable } from "../../../shared/ports/cluster.ts";
import { createAuthority } from "../../rig/pki.ts";
import { openFaultyCluster, TOKEN } from "./faulty-cluster.ts";

/** Limits that no busy machine reaches by itself; a test of a limit sets that one low. */
const PATIENT = { connectMs: 10_000, silenceMs: 10_000, idleMs: 60_000 };
const never = () => new AbortController().signal;

async function open(low: Partial<typeof PATIENT> = {}) {
  const faulty = await openFaultyCluster({ ...PATIENT, ...low });
  onTestFinished(() => faulty[Symbol.asyncDispose]());
  const pod = faulty.model.addPod({ name: "web", nodeName: "node-1" });
  const node = faulty.model.addNode({ name: "node-1" });
  return { ...faulty, cluster: faulty.connection.during(never()), pod, node };
}

describe("connections", () => {
  test("one connection carries request after request, a deletion with its body among them", async () => {
    const { cluster, proxy, pod } = await open();
    await cluster.listNodes();
    expect(await cluster.deletePod(pod, 30)).toEqual({ kind: "deleted" });
    await cluster.listPodsOnNode("node-1");
    expect(proxy.connections()).toBe(1);
  });

  test("a connection that nobody used for a while is closed", async () => {
    const { cluster, proxy } = await open({ idleMs: 400 });
    await cluster.listNodes();
    await sleep(800);
    await cluster.listNodes();
    expect(proxy.connections()).toBe(2);
  });

  test("a server that we have no authority for is not spoken to", async () => {
    const { proxy } = await open();
    const { certPem: ca } = await createAuthority("somebody else");
    const connection = connectCluster({ url: proxy.url, ca, token: async () => TOKEN, limits: PATIENT });
    await expect(connection.during(never()).listNodes()).rejects.toThrow(ClusterUnavailable);
    expect(proxy.counts.size).toBe(0);
  });
});

describe("a lost answer", () => {
  test("a request that the server never got is sent again", async () => {
    const { cluster, proxy, api } = await open();
    proxy.setRules([{ fault: { kind: "reset-before" }, times: 1 }]);
    expect(await cluster.listNodes()).toHaveLength(1);
    expect(proxy.counts.get("reset-before")).toBe(1);
    expect(api.counts.get("list nodes")).toBe(1);
  });

  test("an eviction whose answer was lost is asked for again, and is the same eviction", async () => {
    const { cluster, proxy, api, pod } = await open();
    proxy.setRules([{ fault: { kind: "reset-after" }, method: "POST", path: /\/eviction$/, times: 1 }]);
    expect(await cluster.evictPod(pod, undefined)).toEqual({ kind: "evicted" });
    expect(api.counts.get("create pods/eviction")).toBe(2);
  });

  test("a patch whose answer was lost was made once, and shows as a conflict", async () => {
    const { cluster, proxy, node } = await open();
    proxy.setRules([{ fault: { kind: "reset-after" }, method: "PATCH", times: 1 }]);
    expect(await cluster.patchNode(node, { unschedulable: true })).toEqual({ kind: "conflict" });
    expect((await cluster.findNode(node.name))?.unschedulable).toBe(true);
  });

  test("an answer that is lost twice is none", async () => {
    const { cluster, proxy, pod } = await open();
    proxy.setRules([{ fault: { kind: "reset-after" } }]);
    expect(await cluster.evictPod(pod, undefined)).toMatchObject({ kind: "unanswered" });
    expect(await cluster.deletePod(pod, 30)).toMatchObject({ kind: "unanswered" });
    await expect(cluster.listNodes()).rejects.toThrow(ClusterUnavailable);
    expect(proxy.counts.get("reset-after")).toBe(6);
  });
});

describe("time", () => {
  test("a silent server is left after two tries", async () => {
    const { cluster, proxy } = await open({ silenceMs: 300 });
    proxy.setRules([{ fault: { kind: "delay", ms: 8_000 } }]);
    const start = performance.now();
    await expect(cluster.listNodes()).rejects.toThrow(/no word for 300 ms/);
    expect(performance.now() - start).toBeLessThan(7_000);
  });

  test("a server that doesn't shake hands is left after two tries", async () => {
    const deaf = createServer(() => {});
    await new Promise<void>((resolve) => deaf.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void deaf.close());
    const address = deaf.address();
    const port = typeof address === "object" ? address?.port : undefined;
    const { certPem: ca } = await createAuthority();
    const limits = { ...PATIENT, connectMs: 200 };
    const connection = connectCluster({ url: `https://127.0.0.1:${port}`, ca, token: async () => TOKEN, limits });
    await expect(connection.during(never()).listNodes()).rejects.toThrow(/no connection after 200 ms/);
  });

  test("when the time of the invocation is over, requests end at once and are not repeated", async () => {
    const { connection, proxy, pod } = await open();
    proxy.setRules([{ fault: { kind: "delay", ms: 8_000 } }]);
    const start = performance.now();
    const answer = await connection.during(AbortSignal.timeout(100)).evictPod(pod, undefined);
    expect(answer).toMatchObject({ kind: "unanswered" });
    expect(performance.now() - start).toBeLessThan(7_000);
    expect(proxy.counts.get("delay")).toBe(1);
  });
});

describe("refusals", () => {
  test("an answer, even a bad one, is never asked for again", async () => {
    const { cluster, proxy, pod } = await open();
    proxy.setRules([{ fault: { kind: "answer", status: 500 } }]);
    expect(await cluster.evictPod(pod, undefined)).toMatchObject({ kind: "unanswered" });
    await expect(cluster.listNodes()).rejects.toThrow(ClusterUnavailable);
    expect(proxy.counts.get("answer")).toBe(2);
  });

  test("a busy server says when to come back", async () => {
    const { cluster, proxy, pod } = await open();
    proxy.setRules([{ fault: { kind: "answer", status: 429, retryAfterSeconds: 7 } }]);
    expect(await cluster.evictPod(pod, undefined)).toEqual({ kind: "throttled", retryAfterSeconds: 7 });
    expect(await cluster.deletePod(pod, 30)).toEqual({ kind: "throttled", retryAfterSeconds: 7 });
    await expect(cluster.listNodes()).rejects.toMatchObject({ name: "ClusterUnavailable", retryAfterSeconds: 7 });
  });

  test("a busy server that doesn't say when is asked again after a second", async () => {
    const { cluster, proxy, pod } = await open();
    proxy.setRules([{ fault: { kind: "answer", status: 429 } }]);
    expect(await cluster.evictPod(pod, undefined)).toEqual({ kind: "throttled", retryAfterSeconds: 1 });
  });

  test("no error shows a token or a whole answer, whatever went wrong", async () => {
    const { cluster, proxy } = await open();
    for (const fault of [
      { kind: "reset-before" },
      { kind: "answer", status: 500 },
      { kind: "answer", status: 409 },
    ] as const) {
      proxy.setRules([{ fault }]);
      const error = await cluster.listNodes().catch((thrown: unknown) => thrown);
      expect(error instanceof ClusterUnavailable || error instanceof ClusterRefused).toBe(true);
      expect(inspect(error, { depth: 20, showHidden: true })).not.toContain(TOKEN);
      expect(inspect(error, { depth: 20, showHidden: true })).not.toContain("apiVersion");
    }
  });
});
