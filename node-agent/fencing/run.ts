/** The running agent: wires the parts, and turns the loop that ticks, looks at the device and reads the Node. */
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import type { FencingStatement } from "../../shared/domain/fencing-lease.ts";
import { connectApiServer } from "../api-server.ts";
import type { Log } from "../log.ts";
import { reasonOf } from "../log.ts";
import { OpsPages } from "../ops-pages.ts";
import { Problems } from "../problems.ts";
import { type Agent, createAgent } from "./agent.ts";
import { countEvent, NO_COUNTS } from "./counts.ts";
import { type CrashFile, crashFile } from "./crashes.ts";
import type { AgentSettings } from "./env.ts";
import { createLeaseBook } from "./lease-book.ts";
import { linuxWatchdog } from "./linux-watchdog.ts";
import { pagesOf } from "./pages.ts";
import { readNode } from "./read-node.ts";
import { step } from "./state-machine.ts";
import type { Claim } from "./words.ts";

const TICK_MS = 1_000;
const LOOK_EVERY_MS = 5_000;
const READ_NODE_EVERY_MS = 15_000;
/** For a crash file that couldn't be written. */
const COUNT_AGAIN_MS = 60_000;
/** Where another program has their port. */
const PAGES_AGAIN_MS = 10_000;

/** Starts, and goes on until a signal ends the process. */
export async function runAgent(settings: AgentSettings, log: Log): Promise<void> {
  const { nodeName, protocol } = settings;
  // Monotonic as `performance` is, which takes half a megabyte more.
  const nowMs = () => process.uptime() * 1000;
  const identity = randomUUID();
  const bootId = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  const api = connectApiServer({ url: settings.apiServer, credentials: settings.credentials });
  const device = linuxWatchdog(settings);
  const crashes = crashFile({ path: settings.crashFile, bootId, uptimeSeconds });
  let nodeUid: string | undefined;
  let counts = NO_COUNTS;
  let lastTickMs = nowMs();
  const timeoutMs = settings.requestTimeoutMs;
  const leases = createLeaseBook({ api, nodeName, nodeUid: () => nodeUid, timeoutMs, nowMs });

  const agent = createAgent({
    ...{ step, device, nowMs },
    settings: protocol,
    renew: (claim) => leases.renew(statementOf(claim, bootId, identity, protocol.feedWithinMs)),
    report: ({ level, message, facts }) => log(level, message, { node: nodeName, ...facts }),
    observe: (event) => {
      counts = countEvent(counts, event);
    },
    exit: () => {
      noteCleanEnd(crashes, log);
      log("info", "agent ended");
      process.exit(0);
    },
  });
  const page = { settings: protocol, state: () => agent.state, counts: () => counts, lastTickMs: () => lastTickMs };
  log("info", "agent started", { node: nodeName, agent: identity, mode: protocol.rules.mode });
  const paths = pagesOf({ ...page, nowMs, nodeName, agent: identity });
  const pages = new OpsPages({ port: settings.opsPort, paths, problems: new Problems(log), log });
  await pages.turn();
  setInterval(() => void pages.turn(), PAGES_AGAIN_MS);

  for (const signal of ["SIGTERM", "SIGINT"]) process.on(signal, () => agent.happen({ kind: "termination asked" }));
  countCrashes(agent, crashes, log);

  async function look(): Promise<void> {
    const reading = await readNode(api, nodeName, timeoutMs);
    if (reading.kind === "read") {
      nodeUid = reading.uid;
      agent.happen({ kind: "node read", labels: reading.labels, annotations: reading.annotations });
      return;
    }
    // A Lease that belongs to a Node that is gone would be collected at once.
    if (reading.absent) nodeUid = undefined;
    agent.happen({ kind: "node unread", because: reading.because });
  }

  agent.happen({ kind: "device seen", sight: device.look() });
  // Before the first renewal, so that a dog that was left running is taken over at once instead of being stopped first.
  await look();
  const tick = () => {
    lastTickMs = nowMs();
    agent.happen({ kind: "ticked" });
  };
  tick();
  setInterval(tick, TICK_MS);
  setInterval(() => agent.happen({ kind: "device seen", sight: device.look() }), LOOK_EVERY_MS);
  // One at a time: its time-out is shorter than the pause, or the next one waits.
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, READ_NODE_EVERY_MS));
    await look();
  }
}

function statementOf(claim: Claim, bootId: string, agent: string, feedWithinMs: number): FencingStatement {
  const { watchdogTimeoutSeconds, mode, armed, sequence } = claim;
  return {
    v: 1,
    ...{ mode, bootId },
    ...(watchdogTimeoutSeconds === undefined ? {} : { watchdogTimeoutSeconds }),
    feedWithinSeconds: feedWithinMs / 1000,
    ...{ armed, agent, sequence },
  };
}

function countCrashes(agent: Agent, crashes: CrashFile, log: Log): void {
  const count = crashes.noteStart();
  if (count.kind === "unknown") {
    log("error", "start could not be noted, no dog is held until it can", { because: count.because });
    agent.happen({ kind: "crashes unknown", because: count.because });
    setTimeout(() => countCrashes(agent, crashes, log), COUNT_AGAIN_MS);
    return;
  }
  if (count.distrusted !== undefined)
    log("error", "crash file was not understood, a crash loop is assumed", { because: count.distrusted });
  agent.happen({ kind: "crashes counted", crashes: count.crashes, calmInMs: count.calmInMs });
}

function noteCleanEnd(crashes: CrashFile, log: Log): void {
  try {
    crashes.noteCleanEnd();
  } catch (error) {
    log("error", "clean end could not be noted and will count as a crash", { because: reasonOf(error) });
  }
}

function uptimeSeconds(): number {
  return Number(readFileSync("/proc/uptime", "utf8").split(" ")[0]);
}
