/**
 * How long early-oom takes from the line to the strike: the memory of a node of files falls steadily, and the time runs
 * from the first figure below the line until something is written to a container's cgroup.kill.
 */
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { findFreePort } from "../rig/ports.ts";
import type { Bed } from "./agents-bed.ts";
import { type FileNode, LINE_KIB, layOutNode, type NodePod } from "./agents-node.ts";
import { pagesOn } from "./agents-pages.ts";
import { type Spread, spreadOf } from "./agents-spread.ts";

export interface StrikeTimes {
  readonly mibPerSecond: number;
  /** In ms. */
  readonly fromLineToStrike: Spread;
  /** What was left of the line's memory at the slowest strike; below 0 the kernel would have been first. */
  readonly leastLeftMib: number;
  readonly lineMib: number;
}

/** The agent has looked at the containers and knows whose they are. */
const WARM_TURNS = 3;
/** So long memory falls before it reaches the line. */
const RAMP_SECONDS = 2;
const WRITE_MILLISECONDS = 2;
const PATIENCE_MILLISECONDS = 10_000;
const LEAKER_MIB = 3_000;

export async function timeStrikes(bed: Bed, mibPerSecond: number, runs: number): Promise<StrikeTimes> {
  const times: number[] = [];
  for (let n = 0; n < runs; n++) times.push(await timeStrike(bed, mibPerSecond, `strike ${mibPerSecond} ${n}`));
  const fromLineToStrike = spreadOf(times);
  const lineMib = LINE_KIB / 1024;
  const leastLeftMib = lineMib - (mibPerSecond * fromLineToStrike.max) / 1_000;
  return { mibPerSecond, fromLineToStrike, leastLeftMib, lineMib };
}

async function timeStrike(bed: Bed, mibPerSecond: number, name: string): Promise<number> {
  const [first, ...others] = bed.pods;
  if (first === undefined) throw new Error("timing a strike: the node has no pod");
  const leaker = { ...first, usesMib: LEAKER_MIB };
  const node = layOutNode(join(bed.folder, name), [bed.ownPod, leaker, ...others]);
  const port = await findFreePort();
  await using _agent = await bed.run({
    name,
    args: [bed.bundleOf("early-oom")],
    env: { ...bed.env, ...node.settings, EARLY_OOM_OPS_PORT: String(port) },
    node: "node-of-the-agents",
  });
  await pagesOn(port).waitFor("early_oom_pods_age_seconds", 0);
  await pagesOn(port).waitFor("early_oom_loop_turns_total", WARM_TURNS);
  const took = await fall(node, leaker, mibPerSecond * 1024);
  if ([bed.ownPod, ...others].some((pod) => node.isStruck(pod))) throw new Error("timing a strike: it hit another pod");
  return took;
}

/** @returns milliseconds from the line to the strike. */
async function fall(node: FileNode, leaker: NodePod, kibPerSecond: number): Promise<number> {
  const started = performance.now();
  let belowAt: number | undefined;
  while (performance.now() - started < PATIENCE_MILLISECONDS) {
    const now = performance.now();
    if (node.isStruck(leaker)) {
      if (belowAt === undefined) throw new Error("timing a strike: it came above the line");
      return now - belowAt;
    }
    const availableKib = LINE_KIB + kibPerSecond * (RAMP_SECONDS - (now - started) / 1_000);
    node.available(availableKib);
    if (availableKib < LINE_KIB) belowAt ??= now;
    await sleep(WRITE_MILLISECONDS);
  }
  throw new Error(`timing a strike: there was none within ${PATIENCE_MILLISECONDS} ms`);
}
