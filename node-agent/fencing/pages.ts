/** What the agent shows on loopback: whether its loop turns, its metrics, and its state as JSON for `status`. */
import { FENCING_MODES, type FencingMode } from "../../shared/domain/fencing-lease.ts";
import { type Gauge, metricsText, type OpsAnswer, type OpsPaths } from "../ops-server.ts";
import { type Counts, RENEWAL_RESULTS } from "./counts.ts";
import type { DeviceProblem } from "./device.ts";
import { type View, viewOf } from "./tell-changes.ts";
import type { ProtocolSettings, State } from "./words.ts";

/** The loop ticks every second; later than that, something holds it up. */
const LATE_TICK_MS = 15_000;

/** Listed, so that each has a series from the start and an alarm can see it rise. */
const PROBLEMS = [
  "missing",
  "not a character device",
  "no sysfs",
  "busy",
  "inactive",
  "nowayout",
  "timeout too short",
  "failed",
] as const satisfies readonly DeviceProblem[];

export interface PageParts {
  readonly settings: ProtocolSettings;
  readonly state: () => State;
  readonly counts: () => Counts;
  readonly lastTickMs: () => number;
  readonly nowMs: () => number;
  readonly nodeName: string;
  readonly agent: string;
}

/** What `status` reads. */
export interface StatusReport extends Omit<View, "armed"> {
  readonly node: string;
  readonly agent: string;
  readonly armed: boolean;
  readonly nodeUnreadBecause: string | undefined;
  readonly renewalsFailBecause: string | undefined;
  /** Undefined before the first. */
  readonly secondsSinceAcceptedRenewal: number | undefined;
  readonly recentCrashes: number | undefined;
  readonly feeds: number;
}

export function pagesOf(parts: PageParts): OpsPaths {
  return {
    "/healthz": () => healthOf(parts),
    "/metrics": () => ({ status: 200, body: metricsText(gaugesOf(parts)) }),
    "/status": () => ({ status: 200, body: `${JSON.stringify(reportOf(parts))}\n` }),
  };
}

/** Knows nothing of the API server: a restart wouldn't bring it back, and would cost the dog a crash. */
function healthOf({ nowMs, lastTickMs }: PageParts): OpsAnswer {
  const ageMs = Math.round(nowMs() - lastTickMs());
  if (ageMs <= LATE_TICK_MS) return { status: 200, body: "ok\n" };
  return { status: 503, body: `the loop ticked ${ageMs} ms ago\n` };
}

function reportOf(parts: PageParts): StatusReport {
  const state = parts.state();
  const { crashes } = state;
  return {
    node: parts.nodeName,
    agent: parts.agent,
    ...viewOf(state, parts.nowMs(), parts.settings),
    nodeUnreadBecause: state.nodeUnreadBecause,
    renewalsFailBecause: state.failure?.because,
    secondsSinceAcceptedRenewal: renewalAgeOf(parts),
    recentCrashes: crashes.kind === "counted" ? crashes.crashes : undefined,
    feeds: parts.counts().feeds,
  };
}

function renewalAgeOf({ state, nowMs }: PageParts): number | undefined {
  const { accepted } = state();
  return accepted && Math.round((nowMs() - accepted.sentAtMs) / 100) / 10;
}

function gaugesOf(parts: PageParts): readonly Gauge[] {
  const counts = parts.counts();
  const report = reportOf(parts);
  const perMode = (mode: FencingMode | undefined) =>
    FENCING_MODES.map((one) => ({ labels: { mode: one }, value: one === mode ? 1 : 0 }));
  return [
    gauge(
      "armed",
      "Whether the last accepted renewal says that a dog resets this node unless renewals go on.",
      report.armed,
    ),
    gauge("dog_held", "Whether a watchdog is held open.", report.dogHeld),
    { ...named("mode_wanted", "The mode that the settings ask for."), values: perMode(report.modeWanted) },
    { ...named("mode_in_force", "The mode that is in force."), values: perMode(report.modeInForce) },
    gauge(
      "watchdog_timeout_seconds",
      "The held dog's own timeout; 0 without a dog.",
      report.watchdogTimeoutSeconds ?? 0,
    ),
    gauge(
      "maintenance",
      "Whether an annotation of the Node says that somebody works on it.",
      report.maintenance !== undefined,
    ),
    gauge("node_unreadable", "Whether the last look at the Node failed.", report.nodeUnreadBecause !== undefined),
    gauge(
      "recent_crashes",
      "Crashes within 15 minutes before this start; -1 where nobody knows.",
      report.recentCrashes ?? -1,
    ),
    gauge(
      "accepted_renewal_age_seconds",
      "Since the last accepted renewal was sent; -1 before the first.",
      report.secondsSinceAcceptedRenewal ?? -1,
    ),
    {
      ...named("device_problem", "Why there is no dog as wanted."),
      values: PROBLEMS.map((problem) => ({ labels: { problem }, value: problem === report.problem ? 1 : 0 })),
    },
    {
      ...named("renewals_total", "Renewals by what came of them.", "counter"),
      values: RENEWAL_RESULTS.map((result) => ({ labels: { result }, value: counts.renewals[result] })),
    },
    {
      ...named("feeds_total", "Feeds of the dog; skipped: the renewal had become too old.", "counter"),
      values: [
        { labels: { result: "fed" }, value: counts.feeds },
        { labels: { result: "failed" }, value: counts.feedsFailed },
        { labels: { result: "skipped" }, value: counts.feedsSkipped },
      ],
    },
  ];
}

function gauge(name: string, help: string, value: number | boolean): Gauge {
  return { ...named(name, help), values: [{ value: Number(value) }] };
}

function named(name: string, help: string, kind: Gauge["kind"] = "gauge") {
  return { name: `fencing_agent_${name}`, help, kind };
}
