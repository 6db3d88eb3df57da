/** The figures of `npm run bench -- agents` for people. */
import { cpus } from "node:os";
import type { Spread } from "./agents-spread.ts";
import type { StrikeTimes } from "./agents-strike.ts";
import type { Watched } from "./agents-watch.ts";

export interface Figures {
  readonly seconds: number;
  /** Average of a minute, at the start and at the end: others on the machine make every wake-up later. */
  readonly load: readonly [number, number];
  readonly watched: Watched;
  readonly strikes: readonly StrikeTimes[];
}

/** What each agent is held to: 55 MB, in MiB, and one percent of a processor. */
const TARGET_MIB = 55e6 / 2 ** 20;
const TARGET_PERCENT = 1;

const NAME_WIDTH = 36;
const WIDTH = 11;

export function tableOf({ seconds, load, watched, strikes }: Figures): string {
  const { rows, lateness, renewalGaps, failedRenewals } = watched;
  const [loadBefore, loadAfter] = load.map((each) => each.toFixed(1));
  return [
    `\n${cpus().length} processors; load ${loadBefore} at the start, ${loadAfter} at the end`,
    line("\nmemory, MiB", ["RSS", "anon", "file", "Pss"]),
    ...rows.map(({ name, memory: { rss, anon, file, pss } }) => line(name, [rss, anon, file, pss].map(oneDigit))),
    `each agent is to have an RSS of at most ${TARGET_MIB.toFixed(1)} MiB (55 MB)`,
    line(`\nCPU time, ${seconds} s`, ["s", "% of one", "until then"]),
    ...rows.map(({ name, cpuSeconds, startCpuSeconds }) =>
      line(
        name,
        [cpuSeconds, (100 * cpuSeconds) / seconds, startCpuSeconds].map((value) => value.toFixed(2)),
      ),
    ),
    `each agent is to take at most ${TARGET_PERCENT} %`,
    line("\nwake-ups late, ms", SPREAD),
    ...lateness.map((each) => spreadLine(each.name, each)),
    line("\nfrom one to the next, ms", SPREAD),
    spreadLine("accepted renewals, due every 5,000", renewalGaps),
    `${failedRenewals} renewals failed`,
    line("\nfrom the line to the strike, ms", [...SPREAD, "MiB left"]),
    ...strikes.map(({ mibPerSecond, fromLineToStrike, leastLeftMib, lineMib }) =>
      spreadLine(`at ${mibPerSecond} MiB/s`, fromLineToStrike, [`${leastLeftMib.toFixed(0)} of ${lineMib.toFixed(0)}`]),
    ),
  ].join("\n");
}

const SPREAD = ["count", "p50", "p99", "max"];

function spreadLine(name: string, { count, p50, p99, max }: Spread, others: readonly string[] = []): string {
  return line(name, [String(count), ...[p50, p99, max].map(oneDigit), ...others]);
}

function oneDigit(value: number): string {
  return value.toFixed(1);
}

/** A line break before the name isn't part of its width. */
function line(name: string, cells: readonly string[]): string {
  const padding = " ".repeat(Math.max(NAME_WIDTH - name.replace("\n", "").length, 0));
  return name + padding + cells.map((cell) => cell.padStart(WIDTH)).join("");
}
