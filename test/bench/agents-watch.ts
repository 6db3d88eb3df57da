/** Both agents at their everyday work for some minutes, and bare Node beside them: memory, CPU time and punctuality. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import { FENCING_LEASE_NAMESPACE } from "../../shared/domain/fencing-lease.ts";
import type { ControlPlane } from "../rig/control-plane.ts";
import { findFreePorts } from "../rig/ports.ts";
import type { RunningProgram } from "../rig/processes.ts";
import { type Bed, NODE_NAME } from "./agents-bed.ts";
import { LINE_KIB, layOutNode } from "./agents-node.ts";
import { type AgentPages, pagesOn } from "./agents-pages.ts";
import { type Memory, readCpuSeconds, readMemory } from "./agents-proc.ts";
import { BARE, HTTPS_AND_HTTP, TIMER, TIMER_MILLISECONDS } from "./agents-references.ts";
import { type Spread, spreadOf } from "./agents-spread.ts";

export interface Row {
  readonly name: string;
  readonly memory: Memory;
  /** Until everything had started. */
  readonly startCpuSeconds: number;
  readonly cpuSeconds: number;
}

export interface Lateness extends Spread {
  readonly name: string;
}

export interface Watched {
  readonly rows: readonly Row[];
  /** Of wake-ups, in ms. */
  readonly lateness: readonly Lateness[];
  /** Milliseconds from one accepted renewal to the next. */
  readonly renewalGaps: Spread;
}

/** The just-in-time compiler has settled, and the first scans and lists are over. */
const SETTLE_MILLISECONDS = 20_000;
const ABOVE_LINE_KIB = 100 * 1024;
const LEASE_EVERY_MILLISECONDS = 1_000;
const POLL_MILLISECONDS = 100;

const leaseSchema = z.object({ spec: z.object({ renewTime: z.iso.datetime().transform(Date.parse) }) });

export async function watchAgents(bed: Bed, seconds: number, say: (what: string) => void): Promise<Watched> {
  await using running = new AsyncDisposableStack();
  const run: Bed["run"] = async (what) => running.use(await bed.run(what));
  const [fencingPort, wellPort, nearPort] = await findFreePorts(3);
  if (fencingPort === undefined || wellPort === undefined || nearPort === undefined) throw new Error("no free port");

  const bare = await run({ name: "bare Node", args: ["-e", BARE], node: "node-of-the-others" });
  const timer = await run({ name: "Node, a timer", args: ["-e", TIMER], node: "node-of-the-others" });
  const both = { name: "Node, https and http", args: ["-e", HTTPS_AND_HTTP], env: bed.env };
  const https = await run({ ...both, node: "node-of-the-others" });
  const fencing = await startFencing(bed, run, fencingPort);
  const well = await startEarlyOom(bed, run, { name: "early-oom", port: wellPort, isNear: false });
  const near = await startEarlyOom(bed, run, { name: "early-oom near its line", port: nearPort, isNear: true });
  const pages = { fencing: pagesOn(fencingPort), well: pagesOn(wellPort), near: pagesOn(nearPort) };
  await pages.fencing.waitFor('fencing_agent_renewals_total{result="accepted"}', 1);
  for (const each of [pages.well, pages.near]) await each.waitFor("early_oom_pods_age_seconds", 0);
  await sleep(SETTLE_MILLISECONDS);

  say(`${seconds} s of everyday work`);
  const named = { [NAMES.bare]: bare, [NAMES.timer]: timer, [NAMES.https]: https };
  const all = Object.entries<RunningProgram>({
    ...named,
    ...{ [NAMES.fencing]: fencing, [NAMES.well]: well, [NAMES.near]: near },
  });
  const before = await Promise.all(all.map(([, { pid }]) => readCpuSeconds(pid)));
  const renewalGaps = spreadOf(await gapsOfRenewals(bed.cluster, seconds * 1_000));
  const rows = await Promise.all(
    all.map(async ([name, { pid }], index) => {
      const startCpuSeconds = before[index] ?? 0;
      return {
        name,
        startCpuSeconds,
        cpuSeconds: (await readCpuSeconds(pid)) - startCpuSeconds,
        memory: await readMemory(pid),
      };
    }),
  );

  const pollSeconds = Math.max(Math.ceil(seconds / 5), 10);
  say(`${pollSeconds} s of asking how late the loops are`);
  const late = await Promise.all([pages.well, pages.near].map((each) => pollLateness(each, pollSeconds * 1_000)));
  await expectNoProblem(pages);
  await timer.stop();
  const ofTimer = z.array(z.number()).parse(JSON.parse(await readFile(timer.logFile, "utf8")));
  return {
    ...{ rows, renewalGaps },
    lateness: [ofTimer, ...late].map((each, index) => ({
      name: [NAMES.timer, NAMES.well, NAMES.near][index] ?? "",
      ...spreadOf(each),
    })),
  };
}

const NAMES = {
  bare: "bare Node",
  timer: `Node, a timer of ${TIMER_MILLISECONDS} ms`,
  https: "Node, https client, http listener",
  fencing: "fencing-agent",
  well: "early-oom",
  near: "early-oom near its line",
} as const;

function startFencing(bed: Bed, run: Bed["run"], port: number): Promise<RunningProgram> {
  const crashFile = join(bed.folder, "fencing/starts.json");
  return run({
    name: "fencing-agent",
    args: [bed.bundleOf("fencing-agent")],
    env: { ...bed.env, FENCING_OPS_PORT: String(port), FENCING_CRASH_FILE: crashFile },
    node: "node-of-the-agents",
  });
}

interface EarlyOomStart {
  readonly name: string;
  readonly port: number;
  readonly isNear: boolean;
}

function startEarlyOom(bed: Bed, run: Bed["run"], { name, port, isNear }: EarlyOomStart): Promise<RunningProgram> {
  const node = layOutNode(join(bed.folder, name), [bed.ownPod, ...bed.pods]);
  node.available(LINE_KIB + ABOVE_LINE_KIB);
  return run({
    name,
    args: [bed.bundleOf("early-oom"), "--dry-run"],
    env: {
      ...{ ...bed.env, ...node.settings, EARLY_OOM_OPS_PORT: String(port) },
      // The kernel's own files take longer to read than a copy of them.
      ...(isNear ? {} : { EARLY_OOM_PROC: "/proc" }),
    },
    // The pair of a node is this one and the fencing-agent.
    node: isNear ? "node-of-the-others" : "node-of-the-agents",
  });
}

/** As the API server has them, by the agent's own clock. */
async function gapsOfRenewals(cluster: ControlPlane, forMilliseconds: number): Promise<readonly number[]> {
  const path = `/apis/coordination.k8s.io/v1/namespaces/${FENCING_LEASE_NAMESPACE}/leases/${NODE_NAME}`;
  const times = new Set<number>();
  const end = performance.now() + forMilliseconds;
  while (performance.now() < end) {
    times.add(leaseSchema.parse((await cluster.api.call({ method: "GET", path })).body).spec.renewTime);
    await sleep(LEASE_EVERY_MILLISECONDS);
  }
  const sorted = [...times].toSorted((a, b) => a - b);
  return sorted.slice(1).map((time, index) => time - (sorted[index] ?? time));
}

/** One figure for each turn that was met; a few are missed. */
async function pollLateness(pages: AgentPages, forMilliseconds: number): Promise<readonly number[]> {
  const late: number[] = [];
  let seen = -1;
  const end = performance.now() + forMilliseconds;
  while (performance.now() < end) {
    const [turns = 0, seconds = 0] = await pages.metrics("early_oom_loop_turns_total", "early_oom_loop_late_seconds");
    if (turns !== seen) late.push(seconds * 1_000);
    seen = turns;
    await sleep(POLL_MILLISECONDS);
  }
  return late;
}

/** An agent that couldn't do its work would be a cheap one. */
async function expectNoProblem(pages: Readonly<Record<"fencing" | "well" | "near", AgentPages>>): Promise<void> {
  for (const each of [pages.well, pages.near]) {
    const [problems] = await each.metrics("early_oom_problems");
    if (problems !== 0) throw new Error(`measuring early-oom: it has ${problems} problems of its own`);
  }
  const failed = ["conflict", "refused", "unanswered"].map(
    (result) => `fencing_agent_renewals_total{result="${result}"}`,
  );
  const counts = await pages.fencing.metrics(...failed);
  if (counts.some((count) => count > 0))
    throw new Error(`measuring the fencing-agent: renewals failed: ${counts.join(", ")}`);
}
