/** What the agents of a node cost, and how quick early-oom is: the bundles that ship, on a real API server, on loopback only. */
import { loadavg } from "node:os";
import { startBed } from "./agents-bed.ts";
import { type StrikeTimes, timeStrikes } from "./agents-strike.ts";
import { type Figures, tableOf } from "./agents-table.ts";
import { watchAgents } from "./agents-watch.ts";

/** How quickly a program leaks, in MiB a second. */
const LEAKS = [100, 1_000] as const;
const STRIKES = 7;

export async function benchAgents({ seconds, json }: { seconds: number; json: boolean }): Promise<void> {
  const say = (what: string) => console.error(`… ${what}`);
  const loadBefore = loadNow();
  say("starting a real control plane, the agents, and bare Node beside them");
  await using bed = await startBed();
  const watched = await watchAgents(bed, seconds, say);
  const strikes: StrikeTimes[] = [];
  for (const mibPerSecond of LEAKS) {
    say(`${STRIKES} strikes at ${mibPerSecond} MiB/s`);
    strikes.push(await timeStrikes(bed, mibPerSecond, STRIKES));
  }
  const figures: Figures = { seconds, load: [loadBefore, loadNow()], watched, strikes };
  if (json) console.log(JSON.stringify(figures, undefined, 2));
  else console.log(tableOf(figures));
}

function loadNow(): number {
  return loadavg()[0] ?? Number.NaN;
}
