/**
 * The node agents' manifests before a real API server, with tokens as a kubelet gets them for a pod: which Lease an
 * agent may write, what its account may do besides, and that nobody else is held up.
 */
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import * as z from "zod";
import { FENCING_LEASE_NAMESPACE } from "../../../shared/domain/fencing-lease.ts";
import { type ControlPlane, startControlPlane } from "../../rig/control-plane.ts";
import { describeReal } from "../../rig/real-parts.ts";
import { waitUntil } from "../../rig/wait.ts";
import { AGENT_ACCOUNT, AGENT_NAMESPACE, withOverlay } from "../../support/node-agent-manifests.ts";
import { ask } from "../../support/relay/client.ts";

const RELAY = join(import.meta.dirname, "../../../relay/manifests/base");
const AGENT = `system:serviceaccount:${AGENT_NAMESPACE}:${AGENT_ACCOUNT}`;
const KUBELET = { name: "system:node:one", groups: ["system:nodes"] };
const OPERATOR = { name: "operator" };
const LEASES = "/apis/coordination.k8s.io/v1/namespaces";
const OUR_LEASES = `${LEASES}/${FENCING_LEASE_NAMESPACE}/leases`;

const tokenSchema = z.object({ status: z.object({ token: z.string() }) });
const uidSchema = z.object({ metadata: z.object({ uid: z.string() }) });
const messageSchema = z.object({ message: z.string() });
const reviewSchema = z.object({ status: z.object({ allowed: z.boolean() }) });
const levelSchema = z.object({ spec: z.object({ priorityLevelConfiguration: z.object({ name: z.string() }) }) });

describeReal("the node agents' manifests before a real API server", ["control plane"], () => {
  let cluster: ControlPlane;
  /** Token of the agent on node `one`. */
  let token: string;

  beforeAll(async () => {
    cluster = await startControlPlane({ controllers: [], kwok: false, users: [KUBELET, OPERATOR] });
    await withOverlay(["lease-namespace"], (folder) => cluster.kubectl("apply", "--server-side", "-k", folder));
    await cluster.apply(node("one"), node("two"), agentPod("one"), lease(FENCING_LEASE_NAMESPACE, "two"));
    token = await tokenOfPod("one");
    await waitUntil("the policy is in force", async () => (await update("two")).status === 403, {
      withinMilliseconds: 30_000,
    });
  });
  afterAll(() => cluster?.stop());

  const call = (method: "GET" | "POST" | "PUT" | "DELETE", path: string, body?: unknown, as = token) =>
    cluster.api.call({ method, path, token: as, ...(body === undefined ? {} : { body }) });
  const create = (body: object, as = token, namespace = FENCING_LEASE_NAMESPACE) =>
    call("POST", `${LEASES}/${namespace}/leases`, body, as);
  /** A renewal as it should be, on the version that is there; where there is none, the API server would create it. */
  const update = async (name: string, as = token, namespace = FENCING_LEASE_NAMESPACE) => {
    const path = `${LEASES}/${namespace}/leases/${name}`;
    const found = await call("GET", path, undefined, cluster.adminToken);
    const body = found.status === 200 ? found.body : lease(namespace, name);
    return call("PUT", `${path}?dryRun=All`, body, as);
  };
  const messageOf = ({ body }: { readonly body: unknown }) => messageSchema.parse(body).message;

  async function tokenOfPod(name: string): Promise<string> {
    const pod = await call("GET", `/api/v1/namespaces/${AGENT_NAMESPACE}/pods/${name}`, undefined, cluster.adminToken);
    const { uid } = uidSchema.parse(pod.body).metadata;
    return tokenFor({ boundObjectRef: { apiVersion: "v1", kind: "Pod", name, uid } });
  }
  async function tokenFor(asked: object): Promise<string> {
    const path = `/api/v1/namespaces/${AGENT_NAMESPACE}/serviceaccounts/${AGENT_ACCOUNT}/token`;
    const body = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: asked };
    return tokenSchema.parse((await call("POST", path, body, cluster.adminToken)).body).status.token;
  }

  describe("an agent", () => {
    test("creates, reads and renews the Lease of its own node", async () => {
      expect((await create(lease(FENCING_LEASE_NAMESPACE, "one"))).status).toBe(201);
      expect((await call("GET", `${OUR_LEASES}/one`)).status).toBe(200);
      expect((await update("one")).status).toBe(200);
    });

    test("is refused the Lease of another node, and told what would be right", async () => {
      const renewed = await update("two");
      expect(renewed.status).toBe(403);
      expect(messageOf(renewed)).toMatch(/may write only the Lease nodekeeper\/one.*NODE_NAME from spec\.nodeName/);
      expect((await create(lease(FENCING_LEASE_NAMESPACE, "three"))).status).toBe(403);
      expect((await update("three")).status).toBe(403);
    });

    test("is refused where its token names no node, its own name or not", async () => {
      const unbound = await tokenFor({});
      for (const name of ["one", "two"]) {
        const answer = await update(name, unbound);
        expect(answer.status).toBe(403);
        expect(messageOf(answer)).toMatch(/names no node.*token that the kubelet projects/);
      }
    });

    test("is refused a name that the API server would make up", async () => {
      const { metadata, ...rest } = lease(FENCING_LEASE_NAMESPACE, "");
      const generated = { ...rest, metadata: { namespace: metadata.namespace, generateName: "one" } };
      const answer = await create(generated);
      expect(answer.status).toBe(403);
      expect(messageOf(answer)).toMatch(/give the Lease its name yourself/);
    });

    test("has its renewals beside the kubelets' heartbeats, and its pod lists with everybody's", async () => {
      const target = { port: Number(new URL(cluster.url).port), ca: cluster.caPem };
      const levelOf = async (path: string) => {
        const { status, headers } = await ask(target, { path, token });
        expect(status).toBe(200);
        const uid = headers["x-kubernetes-pf-flowschema-uid"];
        const schemas = await cluster.kubectl("get", "flowschemas", "-o", "json");
        const { items } = z
          .object({ items: z.array(z.intersection(uidSchema, levelSchema)) })
          .parse(JSON.parse(schemas));
        return items.find(({ metadata }) => metadata.uid === uid)?.spec.priorityLevelConfiguration.name;
      };
      expect(await levelOf(`${OUR_LEASES}/one`)).toBe("node-high");
      expect(await levelOf("/api/v1/pods?fieldSelector=spec.nodeName%3Done")).toBe("workload-low");
    });
  });

  describe("its account, as RBAC sees it,", () => {
    test.each([
      ["may", "get", "nodes", ""],
      ["may", "list", "pods", ""],
      ["may", "create", "events", ""],
      ["may", "get", "leases", FENCING_LEASE_NAMESPACE],
      ["may", "create", "leases", FENCING_LEASE_NAMESPACE],
      ["may", "update", "leases", FENCING_LEASE_NAMESPACE],
      ["may not", "delete", "leases", FENCING_LEASE_NAMESPACE],
      ["may not", "deletecollection", "leases", FENCING_LEASE_NAMESPACE],
      ["may not", "list", "leases", FENCING_LEASE_NAMESPACE],
      ["may not", "update", "leases", "kube-node-lease"],
      ["may not", "update", "leases", AGENT_NAMESPACE],
      ["may not", "patch", "nodes", ""],
      ["may not", "update", "nodes", ""],
      ["may not", "patch", "nodes/status", ""],
      ["may not", "list", "nodes", ""],
      ["may not", "delete", "pods", ""],
      ["may not", "create", "pods/eviction", ""],
      ["may not", "create", "pods/exec", ""],
      ["may not", "list", "secrets", ""],
      ["may not", "get", "secrets", FENCING_LEASE_NAMESPACE],
      ["may not", "get", "configmaps", FENCING_LEASE_NAMESPACE],
      ["may not", "create", "serviceaccounts/token", AGENT_NAMESPACE],
      ["may not", "impersonate", "users", ""],
    ])("%s %s %s in namespace '%s'", async (may, verb, what, namespace) => {
      const [resource, subresource] = what.split("/");
      const group = resource === "leases" ? "coordination.k8s.io" : "";
      const attributes = { verb, group, resource, namespace, ...(subresource === undefined ? {} : { subresource }) };
      const groups = ["system:authenticated", "system:serviceaccounts", `system:serviceaccounts:${AGENT_NAMESPACE}`];
      const body = {
        apiVersion: "authorization.k8s.io/v1",
        kind: "SubjectAccessReview",
        spec: { user: AGENT, groups, resourceAttributes: attributes },
      };
      const path = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
      const { status } = reviewSchema.parse((await call("POST", path, body, cluster.adminToken)).body);
      expect(status.allowed).toBe(may === "may");
    });
  });

  describe("the policy, where RBAC would let the agent do everything with every Lease,", () => {
    beforeAll(async () => {
      await cluster.apply(...allLeasesFor({ kind: "ServiceAccount", name: AGENT_ACCOUNT, namespace: AGENT_NAMESPACE }));
      await cluster.apply(lease(FENCING_LEASE_NAMESPACE, "one"), lease("kube-node-lease", "one"));
      await waitUntil(
        "RBAC says so",
        async () => (await call("GET", `${LEASES}/kube-node-lease/leases`)).status === 200,
      );
    });
    afterAll(() => cluster.kubectl("delete", "clusterrole,clusterrolebinding", "all-leases"));

    test("still refuses to patch or delete another node's", async () => {
      const patched = await cluster.api.call({ method: "PATCH", path: `${OUR_LEASES}/two`, body: { spec: {} }, token });
      expect(patched.status).toBe(403);
      expect((await call("DELETE", `${OUR_LEASES}/two`)).status).toBe(403);
    });

    test("still refuses to delete all Leases at once", async () => {
      const answer = await call("DELETE", OUR_LEASES);
      expect(answer.status).toBe(403);
      expect(messageOf(answer)).toContain("may write only the Lease nodekeeper/one");
      expect((await call("GET", `${OUR_LEASES}/two`)).status).toBe(200);
    });

    test("still refuses the kubelet's Lease, even that of its own node", async () => {
      const answer = await update("one", token, "kube-node-lease");
      expect(answer.status).toBe(403);
      expect(messageOf(answer)).toContain("nodekeeper-node-agent-own-lease");
    });

    test("still lets it delete its own", async () => {
      expect((await call("DELETE", `${OUR_LEASES}/one?dryRun=All`)).status).toBe(200);
    });
  });

  describe("everybody else", () => {
    beforeAll(() => cluster.apply(...allLeasesFor({ kind: "User", name: OPERATOR.name })));

    test("a kubelet writes its heartbeat as before", async () => {
      const kubelet = cluster.userToken(KUBELET.name);
      await call("DELETE", `${LEASES}/kube-node-lease/leases/one`, undefined, cluster.adminToken);
      const body = lease("kube-node-lease", "one");
      expect((await create(body, kubelet, "kube-node-lease")).status).toBe(201);
      expect((await update("one", kubelet, "kube-node-lease")).status).toBe(200);
    });

    test("a leader election in another namespace goes on", async () => {
      const operator = cluster.userToken(OPERATOR.name);
      await waitUntil(
        "RBAC says so",
        async () => (await create(lease("default", "leader"), operator, "default")).status === 201,
      );
    });

    test("who has rights on the agents' Leases may clear them up", async () => {
      const operator = cluster.userToken(OPERATOR.name);
      expect((await call("DELETE", `${OUR_LEASES}/two?dryRun=All`, undefined, operator)).status).toBe(200);
      expect((await update("two", operator)).status).toBe(200);
    });
  });

  describe("an overlay is what the API server takes", () => {
    const apply = (components: readonly string[], others: readonly string[] = []) =>
      withOverlay(
        components,
        (folder) => cluster.kubectl("apply", "--server-side", "--dry-run=server", "--force-conflicts", "-k", folder),
        others,
      );

    test.each([
      ["base alone", []],
      ["watchdog", ["watchdog"]],
      ["local", ["local"]],
      ["softdog", ["softdog"]],
      ["selinux", ["selinux"]],
      ["watchdog, softdog and selinux together", ["watchdog", "softdog", "selinux"]],
    ])("%s", async (_name, components) => {
      expect(await apply(components)).toMatch(/daemonset.apps\/nodekeeper-node-agent/);
    });

    test("with the relay in the same kustomization", async () => {
      const applied = await apply(["local"], [RELAY]);
      expect(applied).toMatch(/deployment.apps\/nodekeeper-relay/);
      expect(applied).toMatch(/daemonset.apps\/nodekeeper-node-agent/);
    });

    test("whose settings make a rollout when they change", async () => {
      const settingsOf = async (components: readonly string[]) => {
        const rendered = await withOverlay(components, (folder) => cluster.kubectl("kustomize", folder));
        const names = new Set(rendered.match(/nodekeeper-node-agent-[0-9a-z]{10}\b/g));
        expect([...names]).toHaveLength(1);
        return [...names][0];
      };
      expect(await settingsOf(["watchdog"])).not.toBe(await settingsOf(["local"]));
    });

    test("and makes pods that their namespace allows, which the relay's would not", async () => {
      const shown = await cluster.kubectl("get", "daemonset", "-n", AGENT_NAMESPACE, "-o", "json");
      const template = z.object({ metadata: z.looseObject({}), spec: z.looseObject({}) });
      const list = z.object({ items: z.array(z.object({ spec: z.object({ template }) })) });
      const [daemonSet] = list.parse(JSON.parse(shown)).items;
      const pod = { ...daemonSet?.spec.template, metadata: { name: "agent" } };
      const createIn = (namespace: string) =>
        call("POST", `/api/v1/namespaces/${namespace}/pods?dryRun=All`, pod, cluster.adminToken);
      expect((await createIn(AGENT_NAMESPACE)).status).toBe(201);
      expect((await createIn(FENCING_LEASE_NAMESPACE)).status).toBe(403);
    });
  });
});

const node = (name: string) => ({ apiVersion: "v1", kind: "Node", metadata: { name } });

/** A pod of the DaemonSet as far as its token goes. */
const agentPod = (name: string) => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, namespace: AGENT_NAMESPACE },
  spec: { nodeName: name, serviceAccountName: AGENT_ACCOUNT, containers: [{ name: "main", image: "none" }] },
});

const lease = (namespace: string, name: string) => ({
  apiVersion: "coordination.k8s.io/v1",
  kind: "Lease",
  metadata: { name, namespace },
  spec: { holderIdentity: "test", leaseDurationSeconds: 40 },
});

function allLeasesFor(subject: Readonly<Record<string, string>>): readonly object[] {
  const metadata = { name: "all-leases" };
  const apiVersion = "rbac.authorization.k8s.io/v1";
  const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "all-leases" };
  return [
    { apiVersion, kind: "ClusterRole", metadata, rules: [{ apiGroups: ["*"], resources: ["leases"], verbs: ["*"] }] },
    { apiVersion, kind: "ClusterRoleBinding", metadata, roleRef, subjects: [subject] },
  ];
}
