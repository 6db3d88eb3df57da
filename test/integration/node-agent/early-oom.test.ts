/**
 * The shipped early-oom as a process, before a real API server and on a node of files: it lists the node's pods with the
 * rights of its own manifests, kills, and what it tells is on pod and node, through outages and restarts.
 */
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import * as z from "zod";
import { buildBundle } from "../../../scripts/build.ts";
import { type ControlPlane, startControlPlane } from "../../rig/control-plane.ts";
import { createAuthority } from "../../rig/pki.ts";
import { type RunningProgram, startProgram } from "../../rig/processes.ts";
import { describeReal } from "../../rig/real-parts.ts";
import { run } from "../../rig/run.ts";
import { create } from "../../rig/seed.ts";
import { waitUntil } from "../../rig/wait.ts";
import { type FaultProxy, startFaultProxy } from "../../support/faults/fault-proxy.ts";
import { AGENT_ACCOUNT, AGENT_NAMESPACE } from "../../support/node-agent-manifests.ts";
import { FakeNode, idOf } from "../../unit/node-agent/early-oom/fixtures/node.ts";

const AGENT = { name: `system:serviceaccount:${AGENT_NAMESPACE}:${AGENT_ACCOUNT}` };
const MANIFESTS = join(import.meta.dirname, "../../../node-agent/manifests/base");
const OWN_POD = "99999999-9999-4999-8999-999999999999";

const podSchema = z.object({ metadata: z.object({ uid: z.string() }) });
const eventsSchema = z.object({
  items: z.array(
    z.object({
      metadata: z.object({ name: z.string() }),
      reason: z.string(),
      message: z.string(),
      involvedObject: z.object({ kind: z.string(), name: z.string() }),
    }),
  ),
});
const statusSchema = z.object({
  mode: z.string(),
  problems: z.array(z.string()),
  pods: z.object({ known: z.number() }),
  lastStrike: z.string().optional(),
});

describeReal("early-oom before a real API server", ["control plane"], () => {
  let cluster: ControlPlane;
  let proxy: FaultProxy;
  let folder: string;
  let entry: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "nodekeeper-early-oom-"));
    const source = join(import.meta.dirname, "../../../node-agent/early-oom/main.ts");
    const program = { name: "early-oom", entry: source, file: "main", format: "cjs" } as const;
    ({ entry } = await buildBundle({ ...program, directory: join(folder, "bundle") }));
    cluster = await startControlPlane({ controllers: [], kwok: false, users: [AGENT] });
    await cluster.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: "nodekeeper" } });
    for (const file of ["namespace.yaml", "rbac.yaml"]) await cluster.kubectl("apply", "-f", join(MANIFESTS, file));
    const authority = await createAuthority();
    const { certPem, keyPem } = await authority.issue({ commonName: "proxy", hosts: ["127.0.0.1"] });
    const tls = { cert: certPem, key: keyPem };
    proxy = await startFaultProxy({ upstream: { url: cluster.url, ca: cluster.caPem }, tls });
    await writeFile(join(folder, "ca.crt"), authority.certPem);
    await writeFile(join(folder, "token"), cluster.userToken(AGENT.name));
  });
  afterAll(async () => {
    await proxy?.stop();
    await cluster?.stop();
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  });
  beforeEach(() => proxy.setRules([]));

  /** A Node, and on it a pod whose container is far above its request, in the API and in the cgroup tree. */
  async function aNodeWithLeak(name: string) {
    await cluster.apply({ apiVersion: "v1", kind: "Node", metadata: { name } });
    const id = idOf(name.charCodeAt(0).toString(16).slice(-1));
    const path = "/api/v1/namespaces/default/pods";
    const resources = { requests: { memory: "256Mi" } };
    await create(cluster, path, {
      metadata: { name: `web-${name}` },
      spec: { nodeName: name, containers: [{ name: "app", image: "registry.invalid/app", resources }] },
    });
    const status = { phase: "Running", containerStatuses: [containerStatus("app", `containerd://${id}`)] };
    const patched = await cluster.api.call({ method: "PATCH", path: `${path}/web-${name}/status`, body: { status } });
    const podUid = podSchema.parse(patched.body).metadata.uid;
    const node = new FakeNode(await mkdtemp(join(folder, `${name}-`)));
    node.add({ podUid: OWN_POD, id: idOf("9"), currentMib: 60 });
    const cgroup = node.add({ podUid, id, currentMib: 1500, processes: { "4711": "java" } });
    return { name, node, cgroup };
  }

  async function start({ name, node }: { name: string; node: FakeNode }, ...args: readonly string[]): Promise<Agent> {
    const { proc, cgroup, sysrqTrigger, spool } = node.places;
    const logFile = join(folder, `${name}-${Math.random()}.log`);
    const log = async () => linesOf(await readFile(logFile, "utf8"));
    const port = async () => (await log()).find(({ message }) => message === "early-oom watches")?.opsPort;
    const env = {
      ...{ NODE_NAME: name, POD_UID: OWN_POD, API_SERVER: proxy.url, API_CREDENTIALS: folder },
      ...{ EARLY_OOM_PROC: proc, EARLY_OOM_CGROUP: cgroup, EARLY_OOM_SYSRQ_TRIGGER: sysrqTrigger },
      ...{ EARLY_OOM_SPOOL: spool, EARLY_OOM_OPS_PORT: "0", LOG_LEVEL: "debug" },
    };
    const program = await startProgram({
      ...{ name: "early-oom", command: process.execPath, args: [entry, ...args], env, logFile },
      isReady: async () => (await port()) !== undefined,
    });
    const url = `http://127.0.0.1:${await port()}`;
    const get = async (path: string) => {
      const answer = await fetch(url + path, { signal: AbortSignal.timeout(5_000) });
      return { status: answer.status, text: await answer.text() };
    };
    const status = async () => statusSchema.parse(JSON.parse((await get("/status")).text));
    return { program, log, get, status };
  }

  const knowsPods = (agent: Agent) =>
    waitUntil("it knows the node's pods", async () => (await agent.status()).pods.known > 0);
  const eventsOf = async (kind: string, name: string) => {
    const { body } = await cluster.api.call({ method: "GET", path: "/api/v1/namespaces/default/events" });
    return eventsSchema
      .parse(body)
      .items.filter(({ involvedObject }) => involvedObject.kind === kind && involvedObject.name === name);
  };

  test("kills the pod that leaks, and `kubectl describe` tells it of pod and node", async () => {
    const leak = await aNodeWithLeak("a");
    const { node, cgroup } = leak;
    const agent = await start(leak);
    await using _ended = agent.program;
    await knowsPods(agent);
    expect(await agent.status()).toMatchObject({ mode: "cgroup", problems: [] });

    await untilStruck(node, cgroup);
    node.end(cgroup);
    node.available(1900);
    await waitUntil("both Events are there", async () => (await eventsOf("Node", "a")).length === 1);
    expect(await eventsOf("Pod", "web-a")).toMatchObject([
      {
        reason: "EarlyOomKilled",
        message: expect.stringMatching(/^Killed container app of pod default\/web-a as a whole \(4711 java\);.*Rule A/),
      },
    ]);
    for (const object of [
      ["pod", "web-a"],
      ["node", "a"],
    ]) {
      expect(await cluster.kubectl("describe", ...object)).toMatch(/Warning +EarlyOomKilled .*requested 256 MiB/);
    }
    const { text } = await agent.get("/metrics");
    expect(text).toContain('early_oom_kills_total{mode="userspace"} 1\n');
    expect(text).toContain("early_oom_failed_strikes_total 0\n");
    expect(node.sysrq).toBe("");
    expect(await readdir(node.places.spool)).toEqual([]);
  });

  test("kills while the API is away; the next process posts what the killed one left, each Event once", async () => {
    const leak = await aNodeWithLeak("b");
    const { node, cgroup } = leak;
    const first = await start(leak);
    await using _first = first.program;
    await knowsPods(first);
    proxy.setRules([{ fault: { kind: "reset-before" } }]);
    await untilStruck(node, cgroup);
    node.end(cgroup);
    node.available(1900);
    await waitUntil("the Events wait", async () => (await readdir(node.places.spool)).length === 2);
    await waitUntil("it says that", async () => (await first.log()).some(({ message }) => message === "problem found"));
    expect((await first.get("/healthz")).status).toBe(200);
    process.kill(first.program.pid, "SIGKILL");
    await waitUntil("it is gone", () => !first.program.isRunning());
    await first.program.stop();
    expect(await eventsOf("Node", "b")).toEqual([]);

    // The answer to the first is lost: it is posted again.
    proxy.setRules([{ method: "POST", fault: { kind: "reset-after" }, times: 1 }]);
    const second = await start(leak);
    await using _second = second.program;
    await waitUntil("nothing waits", async () => (await readdir(node.places.spool)).length === 0, {
      withinMilliseconds: 30_000,
    });
    expect((await eventsOf("Pod", "web-b")).map(({ reason }) => reason)).toEqual(["EarlyOomKilled"]);
    expect((await eventsOf("Node", "b")).map(({ reason }) => reason)).toEqual(["EarlyOomKilled"]);
    expect(node.isStruck(cgroup)).toBe(true);
  });

  test("in dry run says what it would kill and touches nothing, on the node or in the API", async () => {
    const leak = await aNodeWithLeak("c");
    const { node, cgroup } = leak;
    const agent = await start(leak, "--dry-run");
    await using _ended = agent.program;
    await knowsPods(agent);
    const { "proc/meminfo": _before, ...before } = relativeTo(node);
    await fallUntil(node, async () => (await agent.get("/metrics")).text.includes('{mode="dry-run"} 1\n'));
    const { "proc/meminfo": _after, ...after } = relativeTo(node);
    expect(after).toEqual(before);
    expect(node.isStruck(cgroup)).toBe(false);
    const lines = await agent.log();
    expect(lines).toContainEqual(
      expect.objectContaining({ message: "strike left out in dry run", pod: "default/web-c", container: "app" }),
    );
    await sleep(1_500);
    expect([...(await eventsOf("Node", "c")), ...(await eventsOf("Pod", "web-c"))]).toEqual([]);
  });

  test("may list pods and write Events, and nothing else on the way to them", async () => {
    const can = (...args: readonly string[]) =>
      cluster.kubectl("auth", "can-i", ...args, "--as", AGENT.name).then(
        (answer) => answer.trim(),
        () => "no",
      );
    expect(await can("list", "pods", "-A")).toBe("yes");
    expect(await can("create", "events", "-A")).toBe("yes");
    expect(await can("delete", "pods", "-A")).toBe("no");
    expect(await can("patch", "events", "-A")).toBe("no");
  });

  test("ends in order on SIGTERM", async () => {
    const leak = await aNodeWithLeak("d");
    const agent = await start(leak);
    process.kill(agent.program.pid, "SIGTERM");
    await waitUntil("it ended", () => !agent.program.isRunning());
    expect((await agent.log()).at(-1)).toMatchObject({ message: "early-oom ended" });
    await agent.program.stop();
  });

  describe("its command line", () => {
    test("lists every setting with --help", async () => {
      const help = await run(process.execPath, [entry, "--help"], { env: {} });
      expect(help).toContain("EARLY_OOM_MODE (userspace, kernel; default: userspace)");
      expect(help).toContain("POD_UID (text; required)");
    });

    test("refuses what it doesn't understand, and settings that are wrong", async () => {
      await expect(run(process.execPath, [entry, "--dryrun"], { env: {} })).rejects.toThrow(/isn't understood/);
      await expect(run(process.execPath, [entry], { env: { EARLY_OOM_MODE: "x" } })).rejects.toThrow();
    });
  });

  test("takes less than 64 MiB of memory, of which less than 20 MiB are its own, and hardly any CPU time", async () => {
    const agent = await start(await aNodeWithLeak("e"));
    await using _ended = agent.program;
    const { pid } = agent.program;
    await sleep(2_000);
    const before = await cpuSeconds(pid);
    await sleep(5_000);
    expect((await cpuSeconds(pid)) - before).toBeLessThan(0.5);
    const text = await readFile(`/proc/${pid}/status`, "utf8");
    const mebibytes = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, "m").exec(text)?.[1]) / 1024;
    expect(mebibytes("VmRSS")).toBeLessThan(64);
    expect(mebibytes("RssAnon")).toBeLessThan(20);
  });
});

interface Agent {
  readonly program: RunningProgram;
  readonly log: () => Promise<readonly Readonly<Record<string, unknown>>[]>;
  readonly get: (path: string) => Promise<{ readonly status: number; readonly text: string }>;
  readonly status: () => Promise<z.infer<typeof statusSchema>>;
}

/** Memory runs out at 100 MiB a second, from a little above the line. */
async function fallUntil(node: FakeNode, holds: () => boolean | Promise<boolean>): Promise<void> {
  const start = performance.now();
  await waitUntil(
    "early-oom struck",
    async () => {
      node.available(Math.max(400 - (performance.now() - start) / 10, 2));
      return holds();
    },
    { everyMilliseconds: 50 },
  );
}

const untilStruck = (node: FakeNode, cgroup: string) => fallUntil(node, () => node.isStruck(cgroup));

function relativeTo(node: FakeNode): Readonly<Record<string, string>> {
  const root = node.places.proc.slice(0, -"proc".length);
  return Object.fromEntries(Object.entries(node.snapshot()).map(([path, text]) => [path.slice(root.length), text]));
}

function containerStatus(name: string, containerID: string): object {
  return { name, containerID, image: "", imageID: "", ready: true, restartCount: 0, state: { running: {} } };
}

async function cpuSeconds(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/stat`, "utf8");
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  // In hundredths of a second (USER_HZ), fields 14 and 15 of proc_pid_stat(5).
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

function linesOf(text: string): readonly Readonly<Record<string, unknown>>[] {
  return text
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line));
}
