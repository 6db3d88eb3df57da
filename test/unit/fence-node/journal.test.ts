/** What an operator reads of fencing: one info line for each decision, metrics whose series stay few. */
import { describe, expect, it, vi } from "vitest";
import type { Fact } from "../../../functions/fence-node/facts.ts";
import { openJournal } from "../../../functions/fence-node/journal.ts";
import { FENCING_METRICS } from "../../../shared/domain/metrics.ts";
import { readLogbook } from "../../support/logbook.ts";

const { open, written, logged, series, forget } = readLogbook();

function aJournal() {
  const { logger, metrics } = open("fence-node");
  return openJournal(logger, metrics);
}

const OBSERVED = {
  kind: "observed",
  nodes: 20,
  silentShare: 0.05,
  suspected: 1,
  reachable: 2,
  heldBecause: undefined,
} as const;
const decidedOn = (nodeName: string): Fact => {
  return { kind: "decided", nodeName, decision: "hold-no-proof", because: "EC2 says running", isDryRun: false };
};

describe("the log", () => {
  it("has one info line for a decision, with the node, the decision and why", () => {
    aJournal()(decidedOn("node-7"));
    expect(logged()).toEqual([
      expect.objectContaining({
        level: "INFO",
        message: "node decided",
        cluster: "blue",
        nodeName: "node-7",
        decision: "hold-no-proof",
        because: "EC2 says running",
        isDryRun: false,
      }),
    ]);
  });

  it("says nothing above debug of a look that found nothing, and of each object that was deleted", () => {
    const note = aJournal();
    note(OBSERVED);
    note({ kind: "object-deleted", nodeName: "node-1", object: "pod default/web" });
    expect(logged()).toEqual([]);
  });

  it("warns while a brake holds", () => {
    aJournal()({ ...OBSERVED, heldBecause: "3 of 20 nodes are silent at once" });
    expect(logged()).toMatchObject([{ level: "WARN", heldBecause: "3 of 20 nodes are silent at once" }]);
  });

  it("says by what proof a node was fenced", () => {
    aJournal()({ kind: "fenced", nodeName: "node-1", proof: "watchdog", pods: 3 });
    expect(logged()).toMatchObject([{ level: "INFO", nodeName: "node-1", proof: "watchdog", pods: 3 }]);
  });
});

describe("the metrics", () => {
  it("of a look are written at once", () => {
    aJournal()(OBSERVED);
    const dimensions = { service: "fence-node", cluster: "blue" };
    expect(written()).toContainEqual(expect.objectContaining({ silentShare: 0.05, ...dimensions }));
    expect(written()).toContainEqual(expect.objectContaining({ nodesSuspected: 1, ...dimensions }));
    expect(written()).toContainEqual(expect.objectContaining({ nodesReachableWithoutKubelet: 2, ...dimensions }));
    expect(written().some((line) => FENCING_METRICS.heldByBrake in line)).toBe(false);
  });

  it("count each look in which a brake held, and each that failed", () => {
    const note = aJournal();
    note({ ...OBSERVED, heldBecause: "3 of 20 nodes are silent at once" });
    note({ kind: "pass-failed", because: "listing leases: 503" });
    expect(written()).toContainEqual(expect.objectContaining({ fencingHeldByBrake: 1 }));
    expect(written()).toContainEqual(expect.objectContaining({ fencingPassesFailed: 1 }));
  });

  it.each([
    { kind: "instance-not-ended", nodeName: "node-1", because: "StopInstances: UnauthorizedOperation" },
    { kind: "deletion-failed", nodeName: "node-1", object: "pod default/web", because: "403" },
    { kind: "step-failed", nodeName: "node-1", error: new Error("reading node node-1: 503") },
  ] as const)("count $kind as a step that failed", (fact) => {
    aJournal()(fact);
    expect(written()).toContainEqual(expect.objectContaining({ fencingStepsFailed: 1 }));
  });

  it("make no more series of a thousand nodes than of two", () => {
    const seriesOf = (nodes: number) => {
      forget();
      vi.stubEnv("LOG_LEVEL", "SILENT");
      const note = aJournal();
      for (let n = 1; n <= nodes; n++) {
        const [nodeName, because] = [`node-${n}`, `reason ${n}`];
        note(OBSERVED);
        note({ ...OBSERVED, heldBecause: because });
        note(decidedOn(nodeName));
        note({ kind: "pass-failed", because });
        note({ kind: "run-ended", because });
        note({ kind: "fenced", nodeName, proof: n % 2 ? "ec2" : "watchdog", pods: n });
        note({ kind: "fencing-stopped", nodeName, because });
        note({ kind: "deletion-failed", nodeName, object: `pod default/p-${n}`, because });
        note({ kind: "object-deleted", nodeName, object: `pod default/p-${n}` });
        note({ kind: "instance-not-ended", nodeName, because });
        note({ kind: "patch-failed", nodeName, because });
        note({ kind: "event-not-posted", because });
        note({ kind: "step-failed", nodeName, error: new Error(because) });
      }
      return series();
    };
    const ofTwo = seriesOf(2);
    expect(seriesOf(1_000)).toEqual(ofTwo);
    expect(ofTwo.size).toBeLessThan(20);
    expect(ofTwo).toContain("nodekeeper nodesFenced service=fence-node cluster=blue proof=watchdog");
  });
});
