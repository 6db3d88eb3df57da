/** What an operator reads of a drain: one info line for each decision, metrics whose series stay few. */
import { describe, expect, it, vi } from "vitest";
import type { Fact } from "../../../functions/drain-node/facts.ts";
import { openJournal } from "../../../functions/drain-node/journal.ts";
import { done } from "../../../shared/domain/outcome.ts";
import { aSpotInterruption } from "../../builders/a-signal.ts";
import { readLogbook } from "../../support/logbook.ts";

const { open, written, logged, series, forget } = readLogbook();

function aJournal() {
  const { logger, metrics } = open("drain-urgent");
  return { note: openJournal(logger, metrics) };
}

const decidedOn = (n: number): Fact & { kind: "decided" } => ({
  kind: "decided",
  signal: aSpotInterruption({ id: `event-${n}`, instanceId: `i-${String(n).padStart(17, "0")}` }),
  secondsSinceEvent: n,
  decision: "drained",
  nodeName: `node-${n}`,
  outcome: done("empty 12 s after the notice"),
});

describe("the log", () => {
  it("case 32: has one info line for a decision, with the signal, the node, the decision and why", () => {
    const { note } = aJournal();
    const fact = decidedOn(7);
    note(fact, fact.signal);
    expect(logged()).toEqual([
      expect.objectContaining({
        level: "INFO",
        message: "signal decided",
        cluster: "blue",
        signal: "spot-interruption/event-7",
        instanceId: "i-00000000000000007",
        nodeName: "node-7",
        decision: "drained",
        because: "empty 12 s after the notice",
        outcome: "done",
      }),
    ]);
  });

  it("case 32: says why a message without a signal was left", () => {
    aJournal().note({ kind: "settled-at-the-door", decision: "not-ours", outcome: done("event of another account") });
    expect(logged()).toMatchObject([{ level: "INFO", decision: "not-ours", because: "event of another account" }]);
  });

  it("keeps the facts of one signal out of the lines of another", () => {
    const { note } = aJournal();
    const [one, two] = [decidedOn(1), decidedOn(2)];
    note(one, one.signal);
    note(two, two.signal);
    note({ kind: "messages-unsettled", messageIds: ["m"], error: new Error("away") });
    expect(logged().map(({ instanceId }) => instanceId)).toEqual([
      "i-00000000000000001",
      "i-00000000000000002",
      undefined,
    ]);
  });

  it("says nothing above debug of what is no decision and no trouble", () => {
    const { note } = aJournal();
    note({ kind: "cordoned", nodeName: "node-1", secondsSinceEvent: 1 });
    note({ kind: "emptied", nodeName: "node-1", secondsSinceEvent: 1, secondsLeft: 1 });
    expect(logged()).toEqual([]);
  });
});

describe("the metrics", () => {
  it("are written at once: an invocation that is killed loses none of its facts", () => {
    const { note } = aJournal();
    note({ kind: "cordoned", nodeName: "node-1", secondsSinceEvent: 2 });
    expect(written()).toContainEqual(
      expect.objectContaining({ secondsToCordon: 2, service: "drain-urgent", cluster: "blue" }),
    );
  });

  it("case 16: a thousand nodes make no more series than two", () => {
    const seriesOf = (nodes: number) => {
      forget();
      vi.stubEnv("LOG_LEVEL", "SILENT");
      const { note } = aJournal();
      for (let n = 1; n <= nodes; n++) {
        const fact = decidedOn(n);
        const nodeName = `node-${n}`;
        note({ kind: "received" }, fact.signal);
        note(fact);
        note({ ...fact, outcome: { kind: "again", afterSeconds: 3, because: "x" } });
        note({ kind: "cordoned", nodeName, secondsSinceEvent: n });
        note({ kind: "emptied", nodeName, secondsSinceEvent: n, secondsLeft: 100 });
        note({ kind: "eviction-blocked", pod: `default/p-${n}`, budget: `b-${n}`, because: "x" });
        note({ kind: "deleted-past-budget", pod: `default/p-${n}`, budget: `b-${n}`, graceSeconds: 30 });
        note({ kind: "pods-stuck", nodeName, pods: [`default/p-${n}`] });
        note({ kind: "pod-failed", pod: `default/p-${n}`, because: `reason ${n}` });
        note({ kind: "cordon-incomplete", nodeName, because: `reason ${n}` });
        note({ kind: "record-left-alone", nodeName, because: `reason ${n}` });
        note({ kind: "event-not-posted", because: `reason ${n}` });
        note({ kind: "step-failed", error: new Error(`reason ${n}`) });
        note({ kind: "messages-unsettled", messageIds: [`m-${n}`], error: new Error(`reason ${n}`) });
        note({ kind: "settled-at-the-door", decision: "unreadable", outcome: done(`reason ${n}`) });
      }
      return series();
    };
    const ofTwo = seriesOf(2);
    expect(seriesOf(1000)).toEqual(ofTwo);
    expect(ofTwo.size).toBeLessThan(30);
    expect([...ofTwo].join()).toContain("nodekeeper secondsToCordon service=drain-urgent cluster=blue");
    expect([...ofTwo].join()).toContain("nodekeeper oldestUnfinishedSignalSeconds service=drain-urgent cluster=blue");
    expect([...ofTwo].join()).toContain(
      "nodekeeper signalsReceived service=drain-urgent cluster=blue kind=spot-interruption",
    );
  });
});
