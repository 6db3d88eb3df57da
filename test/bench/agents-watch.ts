/** Both agents at their everyday work for some minutes, and bare Node beside them: memory, CPU time and punctuality. */
import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import type { Bed } from "./agents-bed.ts";
import { type Memory, readCpuSeconds, readMemory } from "./agents-proc.ts";
import { gapsOfRenewals, latenessOf } from "./agents-punctuality.ts";
import { type Spread, spreadOf } from "./agents-spread.ts";
import { type SideBySide, type Started, startSideBySide } from "./agents-start.ts";

export interface Row {
  readonly name: string;
  readonly memory: Memory;
  /** Until everything had started and settled. */
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
  readonly failedRenewals: number;
}

/** The just-in-time compiler has settled, and the first scans and lists are over. */
const SETTLE_MILLISECONDS = 20_000;
const LEAST_POLL_SECONDS = 10;

/** @throws where early-oom finds something wrong with itself: an agent that can't do its work is a cheap one. */
export async function watchAgents(bed: Bed, seconds: number, say: (what: string) => void): Promise<Watched> {
  await using running = new AsyncDisposableStack();
  const started = await startSideBySide({ ...bed, run: async (what) => running.use(await bed.run(what)) });
  const { bare, timer, https, fencing, well, near } = started;
  await sleep(SETTLE_MILLISECONDS);

  say(`${seconds} s of everyday work`);
  const all = [bare, timer, https, fencing, well, near];
  const before = await Promise.all(all.map(({ program }) => readCpuSeconds(program.pid)));
  const renewalGaps = spreadOf(await gapsOfRenewals(bed.cluster, seconds * 1_000));
  const rows = await Promise.all(all.map((each, index) => rowOf(each, before[index] ?? 0)));

  const pollSeconds = Math.max(Math.ceil(seconds / 5), LEAST_POLL_SECONDS);
  say(`${pollSeconds} s of asking how late the loops are`);
  const late = await Promise.all(
    [well, near].map(async ({ name, pages }) => ({ name, ...spreadOf(await latenessOf(pages, pollSeconds * 1_000)) })),
  );
  for (const { pages } of [well, near]) {
    const [problems] = await pages.metrics("early_oom_problems");
    if (problems !== 0) throw new Error(`measuring early-oom: it has ${problems} problems of its own`);
  }
  return {
    ...{ rows, renewalGaps },
    failedRenewals: await countFailedRenewals(started),
    lateness: [{ name: timer.name, ...spreadOf(await stopTimer(timer)) }, ...late],
  };
}

async function rowOf({ name, program: { pid } }: Started, startCpuSeconds: number): Promise<Row> {
  const cpuSeconds = (await readCpuSeconds(pid)) - startCpuSeconds;
  return { name, startCpuSeconds, cpuSeconds, memory: await readMemory(pid) };
}

async function countFailedRenewals({ fencing }: SideBySide): Promise<number> {
  const results = ["conflict", "refused", "unanswered"];
  const counts = await fencing.pages.metrics(
    ...results.map((result) => `fencing_agent_renewals_total{result="${result}"}`),
  );
  return counts.reduce((sum, count) => sum + count, 0);
}

async function stopTimer({ program }: Started): Promise<readonly number[]> {
  await program.stop();
  return z.array(z.number()).parse(JSON.parse(await readFile(program.logFile, "utf8")));
}
