/**
 * The node agents' manifests before a real API server: what their account may do, at which priority it is served, and
 * that each overlay is taken.
 */
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import * as z from "zod";
import { FENCING_LEASE_NAMESPACE } from "../../../shared/domain/fencing-lease.ts";
import { type ControlPlane, startControlPlane } from "../../rig/control-plane.ts";
import { describeReal } from "../../rig/real-parts.ts";
import { AGENT_ACCOUNT, AGENT_NAMESPACE, withOverlay } from "../../support/node-agent-manifests.ts";
import { ask } from "../../support/relay/client.ts";

const RELAY = join(import.meta.dirname, "../../../relay/manifests/base");
const AGENT = `system:serviceaccount:${AGENT_NAMESPACE}:${AGENT_ACCOUNT}`;
const OUR_LEASES = `/apis/coordination.k8s.io/v1/namespaces/${FENCING_LEASE_NAMESPACE}/leases`;

const uidSchema = z.object({ metadata: z.object({ uid: z.string() }) });
const reviewSchema = z.object({ status: z.object({ allowed: z.boolean() }) });
const levelSchema = z.object({ spec: z.object({ priorityLevelConfiguration: z.object({ name: z.string() }) }) });

describeReal("the node agents' manifests before a real API server", ["control plane"], () => {
  let cluster: ControlPlane;

  beforeAll(async () => {
    cluster = await startControlPlane({ controllers: [], kwok: false });
    await withOverlay(["lease-namespace"], (folder) => cluster.kubectl("apply", "--server-side", "-k", folder));
  });
  afterAll(() => cluster?.stop());

  const post = (path: string, body: unknown) => cluster.api.call({ method: "POST", path, body });

  test("renewals are served beside the kubelets' heartbeats, and pod lists with everybody's", async () => {
    const token = (await cluster.kubectl("create", "token", AGENT_ACCOUNT, "-n", AGENT_NAMESPACE)).trim();
    const target = { port: Number(new URL(cluster.url).port), ca: cluster.caPem };
    const levelOf = async (path: string) => {
      const { status, headers } = await ask(target, { path, token });
      expect(status).not.toBe(403);
      const uid = headers["x-kubernetes-pf-flowschema-uid"];
      const schemas = await cluster.kubectl("get", "flowschemas", "-o", "json");
      const { items } = z.object({ items: z.array(z.intersection(uidSchema, levelSchema)) }).parse(JSON.parse(schemas));
      return items.find(({ metadata }) => metadata.uid === uid)?.spec.priorityLevelConfiguration.name;
    };
    await expect.poll(() => levelOf(`${OUR_LEASES}/one`), { timeout: 10_000 }).toBe("node-high");
    expect(await levelOf("/api/v1/pods?fieldSelector=spec.nodeName%3Done")).toBe("workload-low");
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
      const { status } = reviewSchema.parse((await post(path, body)).body);
      expect(status.allowed).toBe(may === "may");
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
      ["without-sysrq", ["without-sysrq"]],
      ["four together", ["watchdog", "softdog", "selinux", "without-sysrq"]],
    ])("%s", async (_name, components) => {
      expect(await apply(components)).toMatch(/daemonset.apps\/nodekeeper-node-agent/);
    });

    test("with the relay in the same kustomization", async () => {
      const applied = await apply(["local"], [RELAY]);
      expect(applied).toMatch(/deployment.apps\/nodekeeper-relay/);
      expect(applied).toMatch(/daemonset.apps\/nodekeeper-node-agent/);
    });

    test("without-sysrq leaves nothing of the file that would be missing", async () => {
      const render = (components: readonly string[]) =>
        withOverlay(components, (folder) => cluster.kubectl("kustomize", folder));
      expect(await render([])).toMatch(/path: \/proc\/sysrq-trigger/);
      expect(await render(["without-sysrq"])).not.toMatch(/path: \/proc\/sysrq-trigger|name: sysrq-trigger/);
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
      const createIn = (namespace: string) => post(`/api/v1/namespaces/${namespace}/pods?dryRun=All`, pod);
      expect((await createIn(AGENT_NAMESPACE)).status).toBe(201);
      expect((await createIn(FENCING_LEASE_NAMESPACE)).status).toBe(403);
    });
  });
});
