/**
 * The relay before a real API server, with the service account and the rights of its own manifests: nothing but the
 * table gets through, and RBAC agrees with the table.
 */
import { once } from "node:events";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import * as z from "zod";
import { authorize } from "../../../relay/authorize.ts";
import { ROLES, type Role, resourceName, usersOf } from "../../../relay/permissions.ts";
import { rbacObjects } from "../../../relay/rbac.ts";
import { type ControlPlane, startControlPlane } from "../../rig/control-plane.ts";
import { describeReal } from "../../rig/real-parts.ts";
import { drainEverything, fenceEverything } from "../../support/relay/call-everything.ts";
import { type Asked, ask, open } from "../../support/relay/client.ts";
import { everyRequest } from "../../support/relay/every-request.ts";
import { answerCaller } from "../../support/relay/fake-server.ts";
import { DRAINER, FENCER, type RelayRig, startRelayRig } from "../../support/relay/relay-rig.ts";
import { tokenWith } from "../../support/relay/tokens.ts";

const MANIFESTS = join(import.meta.dirname, "../../../relay/manifests");
const USER = "nodekeeper:drain-urgent";
/** For this suite only: to watch. */
const TESTER: Role = {
  name: "relay-tester",
  users: [USER],
  permissions: [{ group: "", version: "v1", resource: "nodes", namespaced: false, verbs: ["watch"] }],
};

const statusSchema = z.object({ status: z.object({ allowed: z.boolean() }) });
const metadataSchema = z.object({ metadata: z.object({ uid: z.string() }) });
const deploymentSchema = z.object({
  spec: z.object({
    template: z.object({ metadata: z.record(z.string(), z.unknown()), spec: z.record(z.string(), z.unknown()) }),
  }),
});

describeReal("the relay before a real API server", ["control plane"], () => {
  let cluster: ControlPlane;
  let accountToken: string;
  let rig: RelayRig;
  let token: string;
  let signed = 0;

  beforeAll(async () => {
    cluster = await startControlPlane({ controllers: [], kwok: false });
    await cluster.kubectl("apply", "-k", join(MANIFESTS, "base"));
    accountToken = (await cluster.kubectl("create", "token", "nodekeeper-relay", "-n", "nodekeeper")).trim();
    const [role = {}, binding = {}] = rbacObjects([TESTER]);
    await cluster.apply(role, binding, node("a"), node("b"), pod("one"), pod("two"));
    rig = await startRelayRig({
      roles: [...ROLES, TESTER],
      kubeApi: { url: cluster.url, ca: cluster.caPem, token: accountToken },
    });
  });
  afterAll(async () => {
    await rig?.[Symbol.asyncDispose]();
    await cluster?.stop();
  });
  beforeEach(() => {
    // Never one that the relay remembers: STS plays more than one caller here.
    token = tokenWith(new Date(), { "X-Amz-Signature": (++signed).toString(16).padStart(64, "0") });
  });

  const relay = () => ({ port: rig.port, ca: rig.authority.certPem });
  const through = (asked: Asked) => ask(relay(), { token, ...asked });
  const post = (path: string, body: object) =>
    through({ method: "POST", path, body: JSON.stringify(body), headers: { "content-type": "application/json" } });

  describe("its manifests", () => {
    test.each(["base", "overlays/allow-spot", "overlays/internal-nlb"])(
      "%s are what the API server takes",
      async (folder) => {
        const applied = await cluster.kubectl("apply", "--dry-run=server", "-k", join(MANIFESTS, folder));
        expect(applied).toMatch(/deployment.apps\/nodekeeper-relay/);
      },
    );
    test("make a pod that the namespace's own pod security standard, restricted, allows", async () => {
      const shown = await cluster.kubectl("get", "deployment", "nodekeeper-relay", "-n", "nodekeeper", "-o", "json");
      const { template } = deploymentSchema.parse(JSON.parse(shown)).spec;
      const body = { ...template, metadata: { ...template.metadata, name: "relay" } };
      const path = "/api/v1/namespaces/nodekeeper/pods?dryRun=All";
      expect((await cluster.api.call({ method: "POST", path, body })).status).toBe(201);
      const root = { ...body, spec: { ...body.spec, securityContext: {} } };
      expect((await cluster.api.call({ method: "POST", path, body: root })).status).toBe(403);
    });
    test("allow-spot takes the node affinity away and nothing else", async () => {
      const [base, spot] = await Promise.all(
        ["base", "overlays/allow-spot"].map((folder) => cluster.kubectl("kustomize", join(MANIFESTS, folder))),
      );
      expect(base).toContain("karpenter.sh/capacity-type");
      expect(spot).not.toContain("karpenter.sh/capacity-type");
      const lines = new Set(base?.split("\n"));
      expect(spot?.split("\n").filter((line) => !lines.has(line))).toEqual([]);
    });
  });

  describe("the relay's service account", () => {
    const as = (headers: Readonly<Record<string, string>>) =>
      ask({ port: Number(new URL(cluster.url).port), ca: cluster.caPem }, { token: accountToken, headers });

    test("may speak as the users of the table", async () => {
      expect((await as({ "Impersonate-User": USER })).status).toBe(200);
    });
    test.each<[string, Record<string, string>]>([
      ["as itself", {}],
      ["as an administrator", { "Impersonate-User": "kubernetes-admin" }],
      ["as a user that begins alike", { "Impersonate-User": `${USER}-2` }],
      ["as another function", { "Impersonate-User": "nodekeeper:drain-planned" }],
      ["as a node", { "Impersonate-User": "system:node:a" }],
      ["as a service account", { "Impersonate-User": "system:serviceaccount:kube-system:default" }],
      ["in a group", { "Impersonate-User": USER, "Impersonate-Group": "system:masters" }],
      ["with extra fields", { "Impersonate-User": USER, "Impersonate-Extra-Scopes": "all" }],
      ["with a UID", { "Impersonate-User": USER, "Impersonate-Uid": "1" }],
    ])("may do nothing %s", async (_name, headers) => {
      expect((await as(headers)).status).toBe(403);
    });
  });

  describe("drain-urgent, through the relay,", () => {
    test("lists, reads and patches nodes", async () => {
      expect(
        (await through({ path: "/api/v1/nodes?labelSelector=a%20in%20%28b%2Cc%29&resourceVersion=0" })).status,
      ).toBe(200);
      expect((await through({ path: "/api/v1/nodes/a" })).status).toBe(200);
      const headers = { "content-type": "application/merge-patch+json" };
      const body = JSON.stringify({ spec: { unschedulable: true } });
      expect((await through({ method: "PATCH", path: "/api/v1/nodes/a", body, headers })).status).toBe(200);
      expect((await cluster.api.call({ method: "GET", path: "/api/v1/nodes/a" })).body).toMatchObject({
        spec: { unschedulable: true },
      });
    });
    test("lists pods of a node, evicts one and deletes one", async () => {
      const listed = await through({ path: "/api/v1/pods?fieldSelector=spec.nodeName%3Da&limit=100" });
      expect(JSON.parse(listed.body).items).toHaveLength(2);
      const eviction = { apiVersion: "policy/v1", kind: "Eviction", metadata: { name: "one", namespace: "default" } };
      expect((await post("/api/v1/namespaces/default/pods/one/eviction", eviction)).status).toBe(201);
      const body = JSON.stringify({ kind: "DeleteOptions", apiVersion: "v1", gracePeriodSeconds: 1 });
      const headers = { "content-type": "application/json" };
      expect(
        (await through({ method: "DELETE", path: "/api/v1/namespaces/default/pods/two", body, headers })).status,
      ).toBe(200);
    });
    test("lists budgets and writes events", async () => {
      expect((await through({ path: "/apis/policy/v1/namespaces/default/poddisruptionbudgets" })).status).toBe(200);
      const regarding = { kind: "Node", name: "a", apiVersion: "v1" };
      const event = {
        metadata: { name: "a.1", namespace: "default" },
        involvedObject: regarding,
        reason: "Cordoned",
        type: "Normal",
      };
      expect((await post("/api/v1/namespaces/default/events", event)).status).toBe(201);
    });
    test("has a priority level of its own in the API server", async () => {
      const { headers } = await through({});
      const path = "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas/nodekeeper-urgent";
      const { body } = await cluster.api.call({ method: "GET", path });
      expect(headers["x-kubernetes-pf-flowschema-uid"]).toBe(metadataSchema.parse(body).metadata.uid);
    });
  });

  describe("fence-node, through the relay,", () => {
    beforeEach(() => rig.sts.play(answerCaller(FENCER)));
    afterAll(() => rig.sts.play(answerCaller(DRAINER)));
    const configMap = (name: string) => ({ metadata: { name }, data: { a: "b" } });
    const put = (path: string, body: object) =>
      through({ method: "PUT", path, body: JSON.stringify(body), headers: { "content-type": "application/json" } });

    test("lists the Leases of kubelets and agents, and no others", async () => {
      const leases = (namespace: string) => `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`;
      expect((await through({ path: leases("kube-node-lease") })).status).toBe(200);
      expect((await through({ path: leases("nodekeeper") })).status).toBe(200);
      expect((await through({ path: leases("kube-system") })).status).toBe(403);
    });
    test("writes its own observations, and can't touch the relay's map of identities beside them", async () => {
      const path = "/api/v1/namespaces/nodekeeper/configmaps";
      expect((await post(path, configMap("fencing"))).status).toBe(201);
      expect((await put(`${path}/fencing`, configMap("fencing"))).status).toBe(200);
      const identities = "nodekeeper-relay-identities";
      expect((await put(`${path}/${identities}`, configMap(identities))).status).toBe(403);
      expect((await post(path, configMap(identities))).status).toBe(409);
    });
    test("has a priority level of its own in the API server", async () => {
      const { headers } = await through({});
      const path = "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas/nodekeeper-fencing";
      const { body } = await cluster.api.call({ method: "GET", path });
      expect(headers["x-kubernetes-pf-flowschema-uid"]).toBe(metadataSchema.parse(body).metadata.uid);
    });
  });

  test.each(usersOf(ROLES))("what the relay lets %s do is what RBAC lets it do, request by request", async (user) => {
    const disagreements: string[] = [];
    for (const { method, target, attributes } of everyRequest(ROLES)) {
      const relaySays = authorize(ROLES, user, { method, target, upgrade: false }).kind === "allowed";
      if ((await mayDo(user, attributes)) !== relaySays) disagreements.push(`${user}: ${method} ${target}`);
    }
    // The relay's user has one right more in this suite.
    expect(disagreements).toEqual(user === USER ? [`${USER}: GET /api/v1/nodes?watch=true`] : []);
  });

  /** As RBAC answers, not through the relay. */
  async function mayDo(user: string, resourceAttributes: object): Promise<boolean> {
    const { body } = await cluster.api.call({
      method: "POST",
      path: "/apis/authorization.k8s.io/v1/subjectaccessreviews",
      body: { spec: { user, resourceAttributes } },
    });
    return statusSchema.parse(body).status.allowed;
  }

  describe("the table grants what a function's own client of the cluster calls, and not a verb more:", () => {
    afterAll(() => rig.sts.play(answerCaller(DRAINER)));

    test.each([
      { user: USER, caller: DRAINER, callEverything: drainEverything },
      { user: "nodekeeper:fence-node", caller: FENCER, callEverything: fenceEverything },
    ])("$user", async ({ user, caller, callEverything }) => {
      rig.sts.play(answerCaller(caller));
      rig.metrics.requests.reset();
      await callEverything({ url: `https://127.0.0.1:${rig.port}`, ca: relay().ca, token: async () => token });

      const { values } = await rig.metrics.requests.get();
      const called = values.map(({ labels }) => `${labels.verb} ${labels.resource}`);
      const granted = ROLES.filter(({ users }) => users.includes(user)).flatMap((role) => role.permissions);
      const table = granted.flatMap((one) => one.verbs.map((verb) => `${verb} ${resourceName(one)}`));
      expect([...new Set(called)].toSorted()).toEqual([...new Set(table)].toSorted());
    });
  });

  describe("a watch through the relay", () => {
    const openWatches = async (): Promise<number> => {
      const { body } = await cluster.api.call({ method: "GET", path: "/metrics" });
      const line = /^apiserver_longrunning_requests\{[^}]*resource="nodes"[^}]*verb="WATCH"[^}]*\} (\d+)$/m.exec(
        String(body),
      );
      return Number(line?.[1] ?? 0);
    };

    test("gets an event at once, and ends in the API server when the caller goes away", async () => {
      const before = await openWatches();
      const response = await open(relay(), { token, path: "/api/v1/nodes?watch=true&resourceVersion=0" });
      expect(response.statusCode).toBe(200);
      const seen: string[] = [];
      response.on("data", (chunk) => seen.push(String(chunk)));
      await expect.poll(() => seen.join("")).toMatch(/"name":"b"/);
      expect(await openWatches()).toBe(before + 1);

      await cluster.apply(node("late"));
      await expect.poll(() => seen.join(""), { timeout: 1_000, interval: 10 }).toMatch(/"name":"late"/);

      response.destroy();
      await once(response, "close");
      await expect.poll(openWatches, { timeout: 5_000 }).toBe(before);
    });
  });

  test.each(["websocket", "SPDY/3.1"])("an upgrade to %s never reaches the API server", async (protocol) => {
    rig.metrics.refusals.reset();
    // One that is granted: nothing but the upgrade is the reason.
    const path = "/api/v1/namespaces/default/pods/one/eviction";
    const answer = await through({ method: "POST", path, headers: { connection: "upgrade", upgrade: protocol } });
    expect(answer.status).toBe(403);
    expect(answer.headers["audit-id"]).toBeUndefined();
    const { values } = await rig.metrics.refusals.get();
    expect(values).toEqual([{ labels: { reason: "upgrade" }, value: 1 }]);
  });

  test("a function is locked out within seconds of the deletion of its user's binding, whatever the relay remembers", async () => {
    const status = () => through({}).then((answer) => answer.status);
    expect(await status()).toBe(200);
    await cluster.kubectl("delete", "clusterrolebinding", "nodekeeper-drain-node");
    await expect.poll(status, { timeout: 3_000 }).toBe(403);
    await cluster.kubectl("apply", "-k", join(MANIFESTS, "base"));
    await expect.poll(status, { timeout: 3_000 }).toBe(200);
  });
});

function node(name: string): object {
  return { apiVersion: "v1", kind: "Node", metadata: { name } };
}

function pod(name: string): object {
  const containers = [{ name: "main", image: "none" }];
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace: "default" },
    spec: { nodeName: "a", containers },
  };
}
