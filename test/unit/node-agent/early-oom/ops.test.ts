/** What early-oom tells on loopback, and its settings. */
import { describe, expect, test } from "vitest";
import { readSettings } from "../../../../node-agent/early-oom/env.ts";
import type { Figures } from "../../../../node-agent/early-oom/figures.ts";
import { Journal } from "../../../../node-agent/early-oom/journal.ts";
import { opsOf } from "../../../../node-agent/early-oom/ops.ts";
import { aSample, noPressure } from "./fixtures/memory.ts";
import { aContainerTook, aReport } from "./fixtures/reports.ts";

function ask(path: string, journal: Journal, nowMs = 0) {
  const paths = opsOf({
    figures: (): Figures => journal.figures,
    podsAgeMs: () => 12_000,
    podsKnown: () => 3,
    eventsWaiting: () => 2,
    settled: () => ({ mode: "cgroup", rules: "A" }),
    now: () => nowMs,
  });
  return paths[path]?.();
}

const quiet = () => new Journal(() => undefined);
const metrics = (journal: Journal) => ask("/metrics", journal)?.body.split("\n") ?? [];

describe("/healthz", () => {
  test("is well while the loop turns, whatever the API does", () => {
    const journal = quiet();
    journal.turned(1_000, 0);
    journal.heardOfPods({ kind: "unknown", because: "connect ECONNREFUSED" });
    expect(ask("/healthz", journal, 30_000)?.status).toBe(200);
  });

  test("is not where the loop has stood for 30 s, or never turned", () => {
    const journal = quiet();
    expect(ask("/healthz", journal)?.status).toBe(503);
    journal.turned(1_000, 0);
    expect(ask("/healthz", journal, 31_000)?.status).toBe(503);
  });
});

describe("/metrics", () => {
  test("has the node's memory", () => {
    const journal = quiet();
    const pressure = { kind: "measured", someTotalUs: 2_500_000, fullTotalUs: 1_000_000, fullAvg10: 12.5 } as const;
    journal.looked(aSample({ totalKib: 1_000, availableKib: 250, pressure }));
    expect(metrics(journal)).toEqual(
      expect.arrayContaining([
        "early_oom_available_ratio 0.25",
        "early_oom_psi_unavailable 0",
        "early_oom_pressure_full_avg10 12.5",
        "early_oom_pressure_some_seconds 2.5",
        "early_oom_pressure_full_seconds 1",
      ]),
    );
  });

  test("case 52: says that pressure is missing, and gives no figure for it", () => {
    const journal = quiet();
    journal.looked(aSample({ pressure: noPressure }));
    const lines = metrics(journal);
    expect(lines).toContain("early_oom_psi_unavailable 1");
    expect(lines.filter((line) => line.startsWith("early_oom_pressure"))).toEqual([]);
  });

  test("counts strikes by mode, failures, lateness and problems", () => {
    const journal = quiet();
    const { at, rule, because, before } = aReport();
    const scan = { atMs: 0, containers: [], pods: [] };
    const aim = { kind: "kernel", because: "", scan, oomKills: 0 } as const;
    for (const dryRun of [false, true]) journal.struck({ at, atMs: 0, rule, because, before, aim }, dryRun);
    journal.reported(aReport({ took: aContainerTook({ ended: false }) }));
    journal.strikeFailed("EROFS");
    journal.turned(0, 250);
    journal.turned(0, 50);
    journal.found("self-test", ["one", "two"]);
    expect(metrics(journal)).toEqual(
      expect.arrayContaining([
        'early_oom_kills_total{mode="userspace"} 0',
        'early_oom_kills_total{mode="kernel"} 1',
        'early_oom_kills_total{mode="dry-run"} 1',
        `early_oom_last_kill_timestamp ${at.getTime() / 1000}`,
        "early_oom_failed_strikes_total 2",
        "early_oom_loop_late_seconds 0.05",
        "early_oom_loop_late_most_seconds 0.25",
        "early_oom_loop_turns_total 2",
        "early_oom_pods_age_seconds 12",
        "early_oom_events_waiting 2",
        "early_oom_problems 2",
      ]),
    );
  });
});

test("/status tells a person the rule in force, the problems and the last strike", () => {
  const journal = quiet();
  journal.looked(aSample());
  journal.found("self-test", ["the kernel's killer can't be asked"]);
  journal.reported(aReport());
  const status: unknown = JSON.parse(ask("/status", journal)?.body ?? "");
  expect(status).toMatchObject({
    mode: "cgroup",
    rules: "A",
    problems: ["the kernel's killer can't be asked"],
    lastStrike: expect.stringContaining("Killed container app of pod shop/web-0"),
    pods: { known: 3 },
    eventsWaiting: 2,
  });
});

test("a problem is said when it comes and when it goes, not in between", () => {
  const said: string[] = [];
  const journal = new Journal((level, message) => said.push(`${level} ${message}`));
  const away = { kind: "unknown", because: "connect ECONNREFUSED" } as const;
  for (let time = 0; time < 5; time += 1) journal.heardOfPods(away);
  journal.heardOfPods({ kind: "listed", facts: new Map() });
  expect(said).toEqual(["warn problem found", "info problem gone"]);
  expect(journal.figures.problems).toEqual([]);
});

describe("the settings", () => {
  const pod = { NODE_NAME: "node-1", POD_UID: "uid" };

  test("are the platform's habits where nothing is said", () => {
    expect(readSettings(pod, false)).toMatchObject({
      mode: "userspace",
      dryRun: false,
      rules: { a: true, b: true, c: true, evictionHardKib: 100 * 1024 },
      apiServer: undefined,
      opsPort: 9808,
      spoolEvents: 200,
    });
  });

  test("take the API server from what every pod is told", () => {
    const told = { KUBERNETES_SERVICE_HOST: "10.0.0.1", KUBERNETES_SERVICE_PORT: "443" };
    expect(readSettings({ ...pod, ...told }, false).apiServer).toBe("https://10.0.0.1:443");
    expect(readSettings({ ...pod, ...told, API_SERVER: "https://[::1]:6443" }, false).apiServer).toBe(
      "https://[::1]:6443",
    );
  });

  test("run dry if command line or environment says so", () => {
    expect(readSettings(pod, true).dryRun).toBe(true);
    expect(readSettings({ ...pod, EARLY_OOM_DRY_RUN: "true" }, false).dryRun).toBe(true);
  });

  test("are refused all together", () => {
    const wrong = { EARLY_OOM_MODE: "user", EARLY_OOM_RULE_A: "1", EARLY_OOM_EVICTION_HARD_MIB: "5%" };
    expect(() => readSettings(wrong, false)).toThrow(
      /EARLY_OOM_MODE=user.*\n.*EARLY_OOM_RULE_A=1.*\n.*EARLY_OOM_EVICTION_HARD_MIB=5%.*\n.*NODE_NAME is missing.*\n.*POD_UID/,
    );
    expect(() => readSettings({ ...pod, API_SERVER: "http://10.0.0.1" }, false)).toThrow(/begins with https/);
  });
});
