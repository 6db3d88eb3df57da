/**
 * The fencing-agent before a real API server: its Lease as the server keeps it, with every answer that isn't a yes, and
 * the shipped bundle as a process. There is no dog here: what a dog does is tested in a guest of its own.
 */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import * as z from "zod";
import { type ApiServer, connectApiServer } from "../../../node-agent/api-server.ts";
import { createLeaseBook, type LeaseBook } from "../../../node-agent/fencing/lease-book.ts";
import { readNode } from "../../../node-agent/fencing/read-node.ts";
import { buildBundle } from "../../../scripts/build.ts";
import {
  FENCING_ANNOTATION,
  FENCING_LEASE_NAMESPACE,
  type FencingStatement,
} from "../../../shared/domain/fencing-lease.ts";
import { PAUSED_ANNOTATION } from "../../../shared/domain/keys.ts";
import { readFencingStatement } from "../../../shared/domain/read-fencing-lease.ts";
import { type ControlPlane, startControlPlane } from "../../rig/control-plane.ts";
import { createAuthority } from "../../rig/pki.ts";
import { type RunningProgram, startProgram } from "../../rig/processes.ts";
import { describeReal } from "../../rig/real-parts.ts";
import { run } from "../../rig/run.ts";
import { waitUntil } from "../../rig/wait.ts";
import { type FaultProxy, startFaultProxy } from "../../support/faults/fault-proxy.ts";

const AGENT = { name: "system:serviceaccount:nodekeeper-node-agent:nodekeeper-node-agent" };
const STRANGER = { name: "system:serviceaccount:default:stranger" };
const LEASES = `/apis/coordination.k8s.io/v1/namespaces/${FENCING_LEASE_NAMESPACE}/leases`;
const TIMEOUT_MS = 1_000;

const leaseSchema = z.object({
  metadata: z.object({
    uid: z.string(),
    resourceVersion: z.string(),
    annotations: z.record(z.string(), z.string()),
    ownerReferences: z.array(z.object({ kind: z.string(), name: z.string() })).optional(),
  }),
  spec: z.object({ holderIdentity: z.string(), renewTime: z.string() }),
});

describeReal("the fencing-agent before a real API server", ["control plane"], () => {
  let cluster: ControlPlane;
  let proxy: FaultProxy;
  let folder: string;

  beforeAll(async () => {
    cluster = await startControlPlane({ controllers: [], kwok: false, users: [AGENT, STRANGER] });
    await cluster.apply(
      { apiVersion: "v1", kind: "Namespace", metadata: { name: FENCING_LEASE_NAMESPACE } },
      ...["one", "two", "three", "four", "five"].map(node),
      ...rights(),
    );
    const authority = await createAuthority();
    const { certPem, keyPem } = await authority.issue({ commonName: "proxy", hosts: ["127.0.0.1"] });
    const tls = { cert: certPem, key: keyPem };
    proxy = await startFaultProxy({ upstream: { url: cluster.url, ca: cluster.caPem }, tls });
    folder = await mkdtemp(join(tmpdir(), "nodekeeper-fencing-"));
    await writeFile(join(folder, "ca.crt"), authority.certPem);
    await writeFile(join(folder, "token"), cluster.userToken(AGENT.name));
  });
  afterAll(async () => {
    await proxy?.stop();
    await cluster?.stop();
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  });
  beforeEach(() => proxy.setRules([]));

  async function leaseOf(name: string) {
    const { status, body } = await cluster.api.call({ method: "GET", path: `${LEASES}/${name}` });
    if (status !== 200) return undefined;
    const { metadata, spec } = leaseSchema.parse(body);
    const reading = readFencingStatement(metadata.annotations[FENCING_ANNOTATION]);
    return { metadata, spec, statement: reading.kind === "statement" ? reading.statement : undefined };
  }

  describe("its Lease", () => {
    let api: ApiServer;
    let book: LeaseBook;
    beforeAll(async () => {
      api = connectApiServer({ url: proxy.url, credentials: folder });
      const reading = await readNode(api, "one", TIMEOUT_MS);
      const uid = reading.kind === "read" ? reading.uid : undefined;
      expect(uid).toBeDefined();
      const nowMs = () => performance.now();
      book = createLeaseBook({ api, nodeName: "one", nodeUid: () => uid, timeoutMs: TIMEOUT_MS, nowMs });
    });
    afterAll(() => api.close());

    test("is made with the first renewal and belongs to the Node", async () => {
      expect(await book.renew(statement(1))).toMatchObject({ kind: "accepted" });
      const lease = await leaseOf("one");
      expect(lease?.statement).toEqual(statement(1));
      expect(lease?.metadata.ownerReferences).toMatchObject([{ kind: "Node", name: "one" }]);
      expect(lease?.spec.holderIdentity).toBe("agent-1");
    });

    test("gets a new version with each renewal", async () => {
      const before = await leaseOf("one");
      expect(await book.renew(statement(2))).toMatchObject({ kind: "accepted" });
      const after = await leaseOf("one");
      expect(after?.metadata.uid).toBe(before?.metadata.uid);
      expect(after?.metadata.resourceVersion).not.toBe(before?.metadata.resourceVersion);
    });

    test("is no renewal where somebody else wrote in between, and is one after that", async () => {
      const body = { metadata: { labels: { note: "from-somebody" } } };
      await cluster.api.call({ method: "PATCH", path: `${LEASES}/one`, body });
      expect(await book.renew(statement(3))).toMatchObject({ kind: "failed", reason: "conflict" });
      expect(await book.renew(statement(4))).toMatchObject({ kind: "accepted" });
      expect((await leaseOf("one"))?.statement).toEqual(statement(4));
    });

    test("a write that timed out here and comes late there doesn't lie over the next one", async () => {
      proxy.setRules([{ method: "PUT", fault: { kind: "delay", ms: 2_500 }, times: 1 }]);
      expect(await book.renew(statement(5, true))).toMatchObject({ kind: "failed", reason: "unanswered" });
      expect(await book.renew(statement(6))).toMatchObject({ kind: "accepted" });
      const forwarded = proxy.counts.get("forwarded") ?? 0;
      await waitUntil("the late write arrived", () => (proxy.counts.get("forwarded") ?? 0) > forwarded);
      await new Promise((resolve) => setTimeout(resolve, 200));
      expect((await leaseOf("one"))?.statement).toEqual(statement(6));
    });

    test("a write that was carried out but not answered is no renewal, and the next one goes on from it", async () => {
      proxy.setRules([{ method: "PUT", fault: { kind: "reset-after" }, times: 1 }]);
      expect(await book.renew(statement(7, true))).toMatchObject({ kind: "failed", reason: "unanswered" });
      expect((await leaseOf("one"))?.statement).toEqual(statement(7, true));
      expect(await book.renew(statement(8))).toMatchObject({ kind: "accepted" });
      expect((await leaseOf("one"))?.statement).toEqual(statement(8));
    });

    test("is not brought back to life by a late write after it was deleted", async () => {
      proxy.setRules([{ method: "PUT", fault: { kind: "delay", ms: 2_000 }, times: 1 }]);
      expect(await book.renew(statement(9, true))).toMatchObject({ kind: "failed", reason: "unanswered" });
      await cluster.api.call({ method: "DELETE", path: `${LEASES}/one` });
      const forwarded = proxy.counts.get("forwarded") ?? 0;
      await waitUntil("the late write arrived", () => (proxy.counts.get("forwarded") ?? 0) > forwarded);
      await new Promise((resolve) => setTimeout(resolve, 200));
      expect(await leaseOf("one")).toBeUndefined();
      expect(await book.renew(statement(10))).toMatchObject({ kind: "accepted" });
    });

    test.each([429, 500, 503] as const)("HTTP %i is no renewal", async (status) => {
      proxy.setRules([{ method: "PUT", fault: { kind: "answer", status }, times: 1 }]);
      expect(await book.renew(statement(11))).toMatchObject({ kind: "failed", reason: "refused" });
      expect(await book.renew(statement(12))).toMatchObject({ kind: "accepted" });
    });

    test("is not written by who has no right to", async () => {
      const foreign = await mkdtemp(join(tmpdir(), "nodekeeper-fencing-"));
      await writeFile(join(foreign, "ca.crt"), await readFile(join(folder, "ca.crt")));
      await writeFile(join(foreign, "token"), cluster.userToken(STRANGER.name));
      const theirs = connectApiServer({ url: proxy.url, credentials: foreign });
      const parts = {
        nodeName: "two",
        nodeUid: () => undefined,
        timeoutMs: TIMEOUT_MS,
        nowMs: () => performance.now(),
      };
      const renewal = await createLeaseBook({ ...parts, api: theirs }).renew(statement(1));
      theirs.close();
      await rm(foreign, { recursive: true });
      expect(renewal).toMatchObject({ kind: "failed", reason: "refused", because: expect.stringContaining("403") });
      expect(await leaseOf("two")).toBeUndefined();
    });
  });

  describe("the shipped program", () => {
    let entry: string;
    beforeAll(async () => {
      const source = join(import.meta.dirname, "../../../node-agent/fencing/main.ts");
      const program = { name: "fencing-agent", entry: source, file: "main", format: "cjs" } as const;
      ({ entry } = await buildBundle({ ...program, directory: join(folder, "bundle") }));
    });

    interface Started {
      readonly program: RunningProgram;
      readonly url: string;
      readonly env: Readonly<Record<string, string>>;
      readonly log: () => Promise<readonly Readonly<Record<string, unknown>>[]>;
    }

    async function start(name: string, more: Readonly<Record<string, string>> = {}): Promise<Started> {
      const logFile = join(folder, `${name}-${Math.random()}.log`);
      const env = {
        ...{ NODE_NAME: name, API_SERVER: proxy.url, API_CREDENTIALS: folder, FENCING_OPS_PORT: "0" },
        ...{ FENCING_RENEW_SECONDS: "1", FENCING_REQUEST_TIMEOUT_SECONDS: "1", FENCING_DEVICE: join(folder, "no-dog") },
        FENCING_CRASH_FILE: join(folder, `${name}.json`),
        ...more,
      };
      const log = async () => linesOf(await readFile(logFile, "utf8"));
      const port = async () => (await log()).find(({ message }) => message === "pages are served")?.opsPort;
      const isReady = async () => (await port()) !== undefined;
      const program = await startProgram({
        ...{ name: "the fencing-agent", command: process.execPath, args: [entry], env, logFile, isReady },
      });
      return {
        program,
        env: { ...env, FENCING_OPS_PORT: String(await port()) },
        url: `http://127.0.0.1:${await port()}`,
        log,
      };
    }
    const get = async (url: string) => {
      const answer = await fetch(url, { signal: AbortSignal.timeout(5_000) });
      return { status: answer.status, text: await answer.text() };
    };

    test("renews in notify, lives through an outage of the API server, and ends cleanly", async () => {
      const { program, url, log } = await start("three");
      await using _ended = program;
      await waitUntil("its Lease is renewed", async () => ((await leaseOf("three"))?.statement?.sequence ?? 0) >= 2);
      expect((await leaseOf("three"))?.statement).toMatchObject({ mode: "notify", armed: false });

      proxy.setRules([{ fault: { kind: "reset-before" } }]);
      await waitUntil("it says so", async () => (await log()).some(({ message }) => message === "renewals fail"));
      expect((await get(`${url}/healthz`)).status).toBe(200);
      expect((await get(`${url}/metrics`)).text).toMatch(/renewals_total\{result="unanswered"\} [1-9]/);
      proxy.setRules([]);
      await waitUntil("it renews again", async () =>
        (await log()).some(({ message }) => message === "renewals are accepted again"),
      );

      process.kill(program.pid, "SIGTERM");
      await waitUntil("it ended", () => !program.isRunning());
      expect((await log()).at(-1)).toMatchObject({ message: "agent ended" });
      expect(JSON.parse(await readFile(join(folder, "three.json"), "utf8"))).toMatchObject({
        starts: [{ endedCleanly: true }],
      });
    });

    test("without a device it stays in notify, says why, and `status` ends with 1", async () => {
      const { program, env, log } = await start("four", {
        FENCING_MODE: "watchdog",
        FENCING_ACCEPT_RESET_ON_API_OUTAGE: "true",
      });
      await using _ended = program;
      await waitUntil("it says so", async () =>
        (await log()).some(({ level, problem }) => level === "error" && problem === "missing"),
      );
      await waitUntil("its Lease is there", async () => (await leaseOf("four")) !== undefined);
      expect((await leaseOf("four"))?.statement).toMatchObject({ mode: "notify", armed: false });
      await expect(run(process.execPath, [entry, "status"], { env })).rejects.toThrow(/problem: +missing/);
    });

    test("sees maintenance of its Node, and tells it in `status`, which ends with 0", async () => {
      const body = { metadata: { annotations: { [PAUSED_ANNOTATION]: "by hand" } } };
      await cluster.api.call({ method: "PATCH", path: "/api/v1/nodes/five", body });
      const { program, env } = await start("five", { FENCING_MODE: "local" });
      await using _ended = program;
      await waitUntil("it saw that", async () =>
        (await run(process.execPath, [entry, "status"], { env }).catch(String)).includes(PAUSED_ANNOTATION),
      );
      expect(await run(process.execPath, [entry, "status"], { env })).toMatch(
        /^maintenance: +nodekeeper.dev\/paused$/m,
      );
    });

    test("after two kills it says that it is in a crash loop", async () => {
      for (let life = 0; life < 2; life += 1) {
        const { program } = await start("five");
        process.kill(program.pid, "SIGKILL");
        await waitUntil("it is gone", () => !program.isRunning());
        await program.stop();
      }
      const { program, url } = await start("five", { FENCING_MODE: "local" });
      await using _ended = program;
      expect((await get(`${url}/metrics`)).text).toContain("fencing_agent_recent_crashes 2\n");
    });

    test("takes less than 64 MiB of memory, of which less than 20 MiB are its own and not the program file's", async () => {
      const { program } = await start("three");
      await using _ended = program;
      await new Promise((resolve) => setTimeout(resolve, 5_000));
      const text = await readFile(`/proc/${program.pid}/status`, "utf8");
      const mebibytes = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, "m").exec(text)?.[1]) / 1024;
      expect(mebibytes("VmRSS")).toBeLessThan(64);
      expect(mebibytes("RssAnon")).toBeLessThan(20);
    });
  });
});

function linesOf(text: string): readonly Readonly<Record<string, unknown>>[] {
  return text
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line));
}

function statement(sequence: number, armed = false): FencingStatement {
  const mode = armed ? "watchdog" : "notify";
  return { v: 1, mode, bootId: "boot-1", feedWithinSeconds: 10, armed, agent: "agent-1", sequence };
}

const node = (name: string) => ({ apiVersion: "v1", kind: "Node", metadata: { name } });

function rights(): readonly object[] {
  const apiVersion = "rbac.authorization.k8s.io/v1";
  const metadata = { name: "fencing-agent" };
  const inNamespace = { ...metadata, namespace: FENCING_LEASE_NAMESPACE };
  const subjects = [{ kind: "User", name: AGENT.name }];
  const roleRef = { apiGroup: "rbac.authorization.k8s.io", name: "fencing-agent" };
  const leases = { apiGroups: ["coordination.k8s.io"], resources: ["leases"], verbs: ["get", "create", "update"] };
  const nodes = { apiGroups: [""], resources: ["nodes"], verbs: ["get"] };
  return [
    { apiVersion, kind: "Role", metadata: inNamespace, rules: [leases] },
    { apiVersion, kind: "RoleBinding", metadata: inNamespace, roleRef: { ...roleRef, kind: "Role" }, subjects },
    { apiVersion, kind: "ClusterRole", metadata, rules: [nodes] },
    { apiVersion, kind: "ClusterRoleBinding", metadata, roleRef: { ...roleRef, kind: "ClusterRole" }, subjects },
  ];
}
