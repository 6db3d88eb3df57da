/** Starts what is measured side by side: both agents of a node, an early-oom near its line, and programs that only have Node. */
import { join } from "node:path";
import { findFreePort } from "../rig/ports.ts";
import type { RunningProgram } from "../rig/processes.ts";
import type { Bed } from "./agents-bed.ts";
import { LINE_KIB, layOutNode } from "./agents-node.ts";
import { type AgentPages, pagesOn } from "./agents-pages.ts";
import { BARE, HTTPS_AND_HTTP, TIMER, TIMER_MILLISECONDS } from "./agents-references.ts";

export interface Started {
  readonly name: string;
  readonly program: RunningProgram;
}

export interface StartedAgent extends Started {
  readonly pages: AgentPages;
}

export interface SideBySide {
  readonly bare: Started;
  /** Writes how late it was, in ms, when it is stopped. */
  readonly timer: Started;
  readonly https: Started;
  readonly fencing: StartedAgent;
  /** Reads the machine's own /proc. */
  readonly well: StartedAgent;
  readonly near: StartedAgent;
}

const ABOVE_LINE_KIB = 100 * 1024;

/** Resolves when the agents do their work: the first renewal was accepted, and the pods of the node are known. */
export async function startSideBySide(bed: Bed): Promise<SideBySide> {
  const all = {
    bare: await startReference(bed, "bare Node", BARE),
    timer: await startReference(bed, `Node, a timer of ${TIMER_MILLISECONDS} ms`, TIMER),
    https: await startReference(bed, "Node, https client, http listener", HTTPS_AND_HTTP),
    fencing: await startFencing(bed),
    well: await startEarlyOom(bed, false),
    near: await startEarlyOom(bed, true),
  };
  await all.fencing.pages.waitFor('fencing_agent_renewals_total{result="accepted"}', 1);
  for (const { pages } of [all.well, all.near]) await pages.waitFor("early_oom_pods_age_seconds", 0);
  return all;
}

async function startReference(bed: Bed, name: string, script: string): Promise<Started> {
  return { name, program: await bed.run({ name, args: ["-e", script], env: bed.env, node: "node-of-the-others" }) };
}

async function startFencing(bed: Bed): Promise<StartedAgent> {
  const name = "fencing-agent";
  const port = await findFreePort();
  const program = await bed.run({
    name,
    args: [bed.bundleOf("fencing-agent")],
    env: {
      ...bed.env,
      FENCING_OPS_PORT: String(port),
      FENCING_CRASH_FILE: join(bed.folder, "fencing/starts.json"),
    },
    node: "node-of-the-agents",
  });
  return { name, program, pages: pagesOn(port) };
}

/** Always a dry run; the pair of a node is the one that is well, and the fencing-agent. */
async function startEarlyOom(bed: Bed, isNear: boolean): Promise<StartedAgent> {
  const name = isNear ? "early-oom near its line" : "early-oom";
  const port = await findFreePort();
  const node = layOutNode(join(bed.folder, "nodes", name), [bed.ownPod, ...bed.pods]);
  node.available(LINE_KIB + ABOVE_LINE_KIB);
  const program = await bed.run({
    name,
    args: [bed.bundleOf("early-oom"), "--dry-run"],
    env: {
      ...{ ...bed.env, ...node.settings, EARLY_OOM_OPS_PORT: String(port) },
      // The kernel's own files take longer to read than a copy of them.
      ...(isNear ? {} : { EARLY_OOM_PROC: "/proc" }),
    },
    node: isNear ? "node-of-the-others" : "node-of-the-agents",
  });
  return { name, program, pages: pagesOn(port) };
}
