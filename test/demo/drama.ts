/** Interrupts the nodes and watches until all are drained or the time is over, showing every change as it is seen. */
import { setTimeout as sleep } from "node:timers/promises";
import { ClusterUnavailable } from "../../shared/ports/cluster.ts";
import type { Installation } from "../support/installation.ts";
import { seconds } from "./grid.ts";
import { beforeTheNotice, changesBetween, follow, type NodeProgress, workOf } from "./progress.ts";
import type { Scene } from "./scene.ts";
import { renderTable } from "./table.ts";
import type { Terminal } from "./terminal.ts";
import type { Sighting, Watch } from "./watch.ts";

/** Half a minute past the deadline nobody can be helped any more. */
const WATCHED_SECONDS = 150;
/** Between two looks: what is seen happened at most so long ago. */
const LOOK_MILLISECONDS = 200;
/** Where looking is slow, the pause is this many times as long as the look, so that it takes little from those who work. */
const PAUSE_PER_LOOK = 3;

export interface Stage {
  readonly scene: Scene;
  readonly installation: Pick<Installation, "interrupt">;
  readonly watch: Watch;
  readonly terminal: Terminal;
  /** Aborted on Ctrl-C. */
  readonly signal: AbortSignal;
}

export interface Drama {
  readonly nodes: readonly NodeProgress[];
  /** From the notice until the last node was seen drained, or until the time was over. */
  readonly seconds: number;
}

export async function interruptAndWatch(stage: Stage, before: Sighting): Promise<Drama> {
  const { scene, installation, signal, terminal } = stage;
  let nodes = scene.interrupted.map(({ name }) => beforeTheNotice(name, workOf(before.pods.get(name) ?? []).length));
  const noticed = performance.now();
  const sinceNotice = () => (performance.now() - noticed) / 1000;
  try {
    await installation.interrupt(scene.interrupted.map(({ instanceId }) => instanceId));
    showNotice(stage);
    while (nodes.some(({ state }) => state !== "drained") && sinceNotice() < WATCHED_SECONDS) {
      const lookedAt = performance.now();
      const sighting = await lookOnce(stage);
      const pause = Math.max(LOOK_MILLISECONDS, PAUSE_PER_LOOK * (performance.now() - lookedAt));
      const after = sighting ? nodes.map((node) => follow(node, sighting, sinceNotice())) : nodes;
      show(nodes, after, sinceNotice(), stage);
      nodes = after;
      await sleep(pause, undefined, { signal });
    }
  } finally {
    terminal.leaveArea();
  }
  return { nodes, seconds: sinceNotice() };
}

/** A look that fails is left out: the next one comes in a moment. */
async function lookOnce({ scene, watch }: Stage): Promise<Sighting | undefined> {
  try {
    return await watch.look(scene.interrupted.map(({ name }) => name));
  } catch (error) {
    if (error instanceof ClusterUnavailable) return undefined;
    throw error;
  }
}

function showNotice({ scene, terminal }: Stage): void {
  const names = scene.interrupted.map(({ name }) => name).join(", ");
  terminal.writeLines(terminal.isLive ? [""] : ["", line(0, `spot interruption notices for ${names}`)]);
}

function show(
  before: readonly NodeProgress[],
  nodes: readonly NodeProgress[],
  secondsSinceNotice: number,
  { scene, terminal }: Stage,
): void {
  if (terminal.isLive) {
    const otherNodes = scene.nodes.length - nodes.length;
    terminal.draw(renderTable({ nodes, secondsSinceNotice, otherNodes }, terminal.paint, terminal.rows()));
    return;
  }
  const news = nodes.flatMap((node, at) => changesBetween(before[at] ?? node, node));
  terminal.writeLines(news.map((what) => line(secondsSinceNotice, what)));
}

/** Time of day, seconds since the notice, what. */
function line(secondsSinceNotice: number, what: string): string {
  const timeOfDay = new Date().toISOString().slice(11, 19);
  return `${timeOfDay}  ${`+${seconds(secondsSinceNotice)}`.padStart(8)}  ${what}`;
}
