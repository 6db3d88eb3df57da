/** early-oom on the node's loopback: whether the loop turns, the figures for a scraper, and all of it for a person. */
import { type Gauge, metricsText, type OpsPaths } from "../ops-server.ts";
import type { Figures } from "./figures.ts";
import type { MemorySample } from "./words.ts";

export interface OpsOptions {
  readonly figures: () => Figures;
  readonly podsAgeMs: () => number | undefined;
  readonly podsKnown: () => number;
  readonly eventsWaiting: () => number;
  /** The effective rule, the mode and what else was settled at the start. */
  readonly settled: () => Readonly<Record<string, unknown>>;
  /** Monotonic milliseconds. */
  readonly now: () => number;
}

/** The longest pause is a second; a scan of hundreds of containers on a node that thrashes may take some. */
const STALLED_MS = 30_000;

export function opsOf(options: OpsOptions): OpsPaths {
  return {
    "/healthz": () => health(options),
    "/metrics": () => ({ status: 200, body: metricsText(gaugesOf(options)) }),
    "/status": () => ({ status: 200, body: `${JSON.stringify(statusOf(options), undefined, 2)}\n` }),
  };
}

/** Nothing of the API: a restart doesn't bring it back. */
function health({ figures, now }: OpsOptions) {
  const { turnedAtMs } = figures();
  if (turnedAtMs !== undefined && now() - turnedAtMs < STALLED_MS) return { status: 200, body: "ok\n" };
  const since = turnedAtMs === undefined ? "since the start" : `for ${Math.round(now() - turnedAtMs)} ms`;
  return { status: 503, body: `the loop hasn't looked at memory ${since}\n` };
}

function gaugesOf({ figures, podsAgeMs, eventsWaiting }: OpsOptions): readonly Gauge[] {
  const now = figures();
  const { sample } = now;
  const gauge = (name: string, help: string, value: number | undefined): Gauge => ({
    ...{ name: `early_oom_${name}`, help, kind: "gauge", values: value === undefined ? [] : [{ value }] },
  });
  const counter = (name: string, help: string, value: number): Gauge => ({
    ...{ name: `early_oom_${name}`, help, kind: "counter", values: [{ value }] },
  });
  const age = podsAgeMs();
  return [
    ...memoryGauges(sample, gauge),
    gauge("short", "1 while the node is short of memory by one of the rules.", now.shortage.kind === "short" ? 1 : 0),
    {
      name: "early_oom_kills_total",
      help: "Strikes: a container ended as a whole, the kernel asked, or left out in dry run.",
      kind: "counter",
      values: Object.entries(now.kills).map(([mode, value]) => ({ labels: { mode }, value })),
    },
    gauge(
      "last_kill_timestamp",
      "Unix time of the last strike, in seconds.",
      now.lastKillAt && now.lastKillAt.getTime() / 1000,
    ),
    counter("failed_strikes_total", "Strikes that couldn't be carried out or had no effect.", now.failedStrikes),
    counter("kernel_kills_total", "Processes of containers that the kernel's own killer took.", now.kernelKills),
    gauge("loop_late_seconds", "By how much the last look came after its time.", now.lateMs.last / 1000),
    gauge("loop_late_most_seconds", "The latest look since the start.", now.lateMs.most / 1000),
    counter("loop_late_seconds_total", "All that looks were late.", now.lateMs.sum / 1000),
    counter("loop_turns_total", "Looks at memory.", now.turns),
    gauge("pods_age_seconds", "Age of the list of this node's pods.", age === undefined ? undefined : age / 1000),
    gauge("events_waiting", "Events that the API hasn't taken yet.", eventsWaiting()),
    counter("events_dropped_total", "Events that nobody will see: too many, or refused.", now.droppedEvents),
    gauge("problems", "What is wrong with the agent itself; /status says what.", now.problems.length),
  ];
}

function memoryGauges(
  sample: MemorySample | undefined,
  gauge: (name: string, help: string, value: number | undefined) => Gauge,
): readonly Gauge[] {
  const pressure = sample?.pressure.kind === "measured" ? sample.pressure : undefined;
  return [
    gauge("psi_unavailable", "1 where the kernel gives no memory pressure.", sample && (pressure ? 0 : 1)),
    gauge("available_ratio", "MemAvailable of MemTotal.", sample && sample.availableKib / sample.totalKib),
    gauge("pressure_full_avg10", "Percent of 10 s in which every task waited for memory.", pressure?.fullAvg10),
    gauge(
      "pressure_some_seconds",
      "Time in which some task waited for memory, since boot.",
      pressure && pressure.someTotalUs / 1e6,
    ),
    gauge(
      "pressure_full_seconds",
      "Time in which every task waited for memory, since boot.",
      pressure && pressure.fullTotalUs / 1e6,
    ),
  ];
}

function statusOf({ figures, podsAgeMs, podsKnown, eventsWaiting, settled }: OpsOptions) {
  const { sample, shortage, problems, lastStrike, kills } = figures();
  const pods = { known: podsKnown(), ageMs: podsAgeMs() };
  return { ...settled(), problems, shortage, sample, lastStrike, kills, pods, eventsWaiting: eventsWaiting() };
}
