/** A node whose memory may end: a guest without swap, with the early-oom that ships, and containers in cgroups. */
import { type Guest, startGuest } from "../../rig/guest/start-guest.ts";
import { waitUntil } from "../../rig/wait.ts";
import { explained, type LogLine, logOf, succeed } from "./guest-agent.ts";
import type { MemoryCluster, MemoryPod, PodWish } from "./memory-cluster.ts";
import { cgroupOf, FORK_BOMB, FORK_BOMB_FILE, HOG, HOG_FILE, type Hog, hogCommand, makeCgroup } from "./memory-load.ts";

/** Three minutes of steady load, and twice what else the longest of the tests takes. */
export const MEMORY_LIFE_MILLISECONDS = 500_000;
export const KERNEL_KILLS = /Out of memory: Killed process|oom-kill:/;
const MEMORY_MEGABYTES = 768;
const LOG_MILLISECONDS = 90_000;

export interface MemoryNodeStart<Name extends string> {
  readonly cluster: MemoryCluster;
  /** A file of CommonJS. */
  readonly program: string;
  readonly name: string;
  readonly pods: Readonly<Record<Name, Omit<PodWish, "name">>>;
  readonly settings?: Readonly<Record<string, string>>;
  readonly agentArguments?: string;
  readonly kernelArguments?: readonly string[];
  readonly modules?: readonly string[];
}

export interface MemoryNode<Name extends string> extends AsyncDisposable {
  readonly guest: Guest;
  /** The agent's own. */
  readonly ownPod: MemoryPod;
  pod(name: Name): MemoryPod;
  /** Starts a program that takes memory, as a child of a shell. Without a pod it is a service of the system. */
  hog(pod: Name | undefined, hog: Hog): Promise<void>;
  /** Runs in the container of a pod, and returns at once. */
  runIn(pod: Name, command: string): Promise<void>;
  /** How many processes a container has. */
  processesOf(pod: Name): Promise<number>;
  /** Processes that the kernel's own killer took, as the node and as each cgroup counts them: 0 if there were none. */
  kernelKills(): Promise<number>;
  availableMib(): Promise<number>;
  /** Where it waits in vain, the error ends with the console. */
  waitUntil(what: string, holds: () => Promise<boolean>, withinMilliseconds: number): Promise<void>;
  log(): readonly LogLine[];
  /** Resolves with the first line that has this message, or with the `nth`. */
  waitForLog(message: string, nth?: number): Promise<LogLine>;
  metrics(): Promise<string>;
}

export async function startMemoryNode<Name extends string>(start: MemoryNodeStart<Name>): Promise<MemoryNode<Name>> {
  const { cluster, name, settings = {} } = start;
  const { token, ownPod } = await cluster.addNode(name);
  const pods: Record<string, MemoryPod> = {};
  for (const [pod, wish] of Object.entries<Omit<PodWish, "name">>(start.pods)) {
    pods[pod] = await cluster.addPod(name, { ...wish, name: pod });
  }
  const podOf = (pod: string): MemoryPod => {
    const found = pods[pod];
    if (found === undefined) throw new Error(`finding pod ${pod}: the node has none`);
    return found;
  };
  const env = {
    NODE_NAME: name,
    POD_UID: ownPod.uid,
    API_SERVER: `https://10.0.2.2:${cluster.port}`,
    API_CREDENTIALS: "/agent/api",
    ...settings,
  };
  const exports = Object.entries(env).map(([key, value]) => `export ${key}='${value}'`);
  const run = `echo $$ >${cgroupOf(ownPod)}/cgroup.procs; echo -997 >/proc/self/oom_score_adj`;
  await using onFailure = new AsyncDisposableStack();
  const guest = onFailure.use(
    await startGuest({
      network: true,
      memoryMegabytes: MEMORY_MEGABYTES,
      kernelArguments: start.kernelArguments ?? ["psi=1"],
      modules: start.modules ?? [],
      files: [
        { from: start.program, to: "/agent/main.cjs" },
        { content: token, to: "/agent/api/token" },
        { content: cluster.caPem, to: "/agent/api/ca.crt" },
        { content: HOG, to: HOG_FILE },
        { content: FORK_BOMB, to: FORK_BOMB_FILE },
        {
          content: [
            ...exports,
            run,
            `exec node /agent/main.cjs ${start.agentArguments ?? ""} >/dev/console 2>&1`,
            "",
          ].join("\n"),
          to: "/agent/run",
        },
      ],
      script: "",
      timeoutMilliseconds: MEMORY_LIFE_MILLISECONDS,
    }),
  );
  for (const pod of [ownPod, ...Object.values(pods)]) await succeed(guest, makeCgroup(pod));
  await succeed(guest, "sh /agent/run </dev/null &");

  const log = () => logOf(guest);
  const node = {
    guest,
    ownPod,
    pod: podOf,
    log,
    async runIn(pod: string, command: string) {
      const quoted = `echo $$ >${cgroupOf(podOf(pod))}/cgroup.procs; ${command}`;
      await succeed(guest, `sh -c '${quoted}' </dev/null >/dev/null 2>&1 &`);
    },
    async hog(pod: string | undefined, hog: Hog) {
      const program = hogCommand(hog);
      if (pod !== undefined) await node.runIn(pod, program);
      else await succeed(guest, `sh -c '${program}' </dev/null >/dev/null 2>&1 &`);
    },
    async processesOf(pod: string) {
      return Number((await guest.run(`wc -l <${cgroupOf(podOf(pod))}/cgroup.procs`)).output);
    },
    async kernelKills() {
      const { output } = await guest.run(
        "grep -h '^oom_kill ' /proc/vmstat; find /sys/fs/cgroup -name memory.events -exec grep -h '^oom_kill ' {} +",
      );
      return output.split("\n").reduce((sum, line) => sum + Number(line.split(" ")[1] ?? 0), 0);
    },
    async availableMib() {
      const { output } = await guest.run("grep MemAvailable /proc/meminfo");
      return Number(output.split(/ +/)[1]) / 1024;
    },
    waitUntil: (what: string, holds: () => Promise<boolean>, withinMilliseconds: number) =>
      explained(guest, waitUntil(what, holds, { withinMilliseconds })),
    async waitForLog(message: string, nth = 1) {
      const find = () => log().filter((each) => each.message === message)[nth - 1];
      await node.waitUntil(`the agent logs "${message}"`, async () => find() !== undefined, LOG_MILLISECONDS);
      return find() ?? {};
    },
    metrics: async () => (await guest.run("wget -q -O - http://127.0.0.1:9808/metrics")).output,
  };
  await node.waitForLog("early-oom watches");
  const running = onFailure.move();
  return { ...node, [Symbol.asyncDispose]: () => running.disposeAsync() };
}
