/**
 * The node agents' manifests before a real API server, with tokens as a kubelet gets them for a pod: which Lease an
 * agent may write, what its account may do besides, and that nobody else is held up.
 */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import * as z from "zod";
import { buildBundle } from "../../../scripts/build.ts";
import { FENCING_ANNOTATION, FENCING_LEASE_NAMESPACE } from "../../../shared/domain/fencing-lease.ts";
import { readFencingStatement } from "../../../shared/domain/read-fencing-lease.ts";
import { type ControlPlane, startControlPlane } from "../../rig/control-plane.ts";
import { startProgram } from "../../rig/processes.ts";
import { describeReal } from "../../rig/real-parts.ts";
import { waitUntil } from "../../rig/wait.ts";
import {
  AGENT_ACCOUNT,
  AGENT_NAMESPACE,
  agentToken,
  agentTokenOn,
  withOverlay,
} from "../../support/node-agent-manifests.ts";

const ENTRY = join(import.meta.dirname, "../../../node-agent/fencing/main.ts");
const KUBELET = { name: "system:node:one", groups: ["system:nodes"] };
const OPERATOR = { name: "operator" };
const LEASES = "/apis/coordination.k8s.io/v1/namespaces";
const OUR_LEASES = `${LEASES}/${FENCING_LEASE_NAMESPACE}/leases`;

const annotationsSchema = z.object({
  metadata: z.object({ annotations: z.record(z.string(), z.string()).default({}) }),
});
const messageSchema = z.object({ message: z.string() });

describeReal("the node agents' manifests before a real API server", ["control plane"], () => {
  let cluster: ControlPlane;
  /** Token of the agent on node `one`. */
  let token: string;

  beforeAll(async () => {
    cluster = await startControlPlane({ controllers: [], kwok: false, users: [KUBELET, OPERATOR] });
    await withOverlay(["lease-namespace"], (folder) => cluster.kubectl("apply", "--server-side", "-k", folder));
    await cluster.apply(lease(FENCING_LEASE_NAMESPACE, "two"));
    token = await agentTokenOn(cluster, "one");
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
  const annotationsOf = (body: unknown) => annotationsSchema.parse(body).metadata.annotations;
  const messageOf = ({ body }: { readonly body: unknown }) => messageSchema.parse(body).message;

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
      const unbound = await agentToken(cluster, {});
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
  });

  describe("the fencing-agent that ships, with the token of the pod on node one,", () => {
    let folder: string;
    let program: string;
    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), "nodekeeper-agent-"));
      await Promise.all([
        writeFile(join(folder, "token"), token, { mode: 0o600 }),
        writeFile(join(folder, "ca.crt"), cluster.caPem),
      ]);
      program = (
        await buildBundle({
          name: "fencing-agent",
          entry: ENTRY,
          file: "main",
          format: "cjs",
          directory: join(folder, "bundle"),
        })
      ).entry;
    });
    afterAll(() => rm(folder, { recursive: true, force: true }));

    const startAgent = (nodeName: string) =>
      startProgram({
        name: "fencing-agent",
        command: process.execPath,
        args: [program],
        env: {
          NODE_NAME: nodeName,
          API_SERVER: cluster.url,
          API_CREDENTIALS: folder,
          FENCING_CRASH_FILE: join(folder, `${nodeName}.json`),
          FENCING_OPS_PORT: "0",
        },
        logFile: join(folder, `${nodeName}.log`),
      });

    test("renews the Lease of its node", async () => {
      await using _agent = await startAgent("one");
      await waitUntil("the Lease says who renews it", async () => {
        const { body } = await call("GET", `${OUR_LEASES}/one`);
        return readFencingStatement(annotationsOf(body)[FENCING_ANNOTATION]).kind === "statement";
      });
    });

    test("says what is wrong where it was given the name of another node, and stays up", async () => {
      await using agent = await startAgent("two");
      await waitUntil("its log says so", async () =>
        (await readFile(agent.logFile, "utf8")).includes("may write only the Lease nodekeeper/one"),
      );
      expect(agent.isRunning()).toBe(true);
      expect(annotationsOf((await call("GET", `${OUR_LEASES}/two`)).body)).not.toHaveProperty(FENCING_ANNOTATION);
    });
  });

  describe("the policy, where RBAC would let the agent do everything with every Lease,", () => {
    beforeAll(async () => {
      await cluster.apply(...allLeasesFor({ kind: "ServiceAccount", name: AGENT_ACCOUNT, namespace: AGENT_NAMESPACE }));
      for (const namespace of [FENCING_LEASE_NAMESPACE, "kube-node-lease"]) {
        const { status } = await create(lease(namespace, "one"), cluster.adminToken, namespace);
        expect([201, 409]).toContain(status);
      }
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
