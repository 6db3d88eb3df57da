import { describe, expect, test } from "vitest";
import { type DrainRecord, writeDrainRecord } from "../../../shared/domain/drain-record.ts";
import { DRAIN_ANNOTATION, DRAINING_LABEL } from "../../../shared/domain/keys.ts";
import type { ClusterNode } from "../../../shared/domain/node.ts";
import type { Pod } from "../../../shared/domain/pod.ts";
import { aNode } from "../../builders/a-node.ts";
import { aPod } from "../../builders/a-pod.ts";
import { beforeTheNotice, changesBetween, follow, type NodeProgress } from "../../demo/progress.ts";
import type { BudgetReport, Sighting } from "../../demo/watch.ts";

const A_DAEMON = aPod({ name: "agent", controller: { apiVersion: "apps/v1", kind: "DaemonSet", name: "agent" } });
const START = beforeTheNotice("node-1", 2);
const ENDING = new Date("2026-01-01T12:01:00Z");

function seen(node: Partial<ClusterNode>, pods: readonly Pod[], reports: readonly BudgetReport[] = []): Sighting {
  return { nodes: new Map([["node-1", aNode(node)]]), pods: new Map([["node-1", [...pods, A_DAEMON]]]), reports };
}

function drained(record: Partial<DrainRecord> = {}): Partial<ClusterNode> {
  const whole: DrainRecord = {
    ...{ v: 1, signal: "spot-interruption/1", decision: "drained", because: "empty" },
    deadline: "2026-01-01T12:02:00Z",
    startedAt: "2026-01-01T12:00:01Z",
    endedAt: "2026-01-01T12:00:20.5Z",
    ...record,
  };
  const annotations = { [DRAIN_ANNOTATION]: writeDrainRecord(whole) };
  return { unschedulable: true, labels: { [DRAINING_LABEL]: "drained" }, annotations };
}

describe("the progress of a node", () => {
  const pods = [aPod({ name: "one" }), aPod({ name: "two" })];

  test("a node that nothing has touched is running", () => {
    expect(follow(START, seen({}, pods), 0.2)).toEqual(START);
  });

  test("a cordon counts from the first time it is seen", () => {
    const first = follow(START, seen({ unschedulable: true }, pods), 0.4);
    expect(first).toMatchObject({ state: "cordoned", cordonedAfter: 0.4, podsLeft: 2 });
    expect(follow(first, seen({ unschedulable: true }, pods), 0.6)).toMatchObject({ cordonedAfter: 0.4 });
  });

  test("it is draining as soon as one of its pods is told to stop", () => {
    const [one = aPod(), two = aPod()] = pods;
    const ending = seen({ unschedulable: true }, [one, { ...two, deletionTimestamp: ENDING }]);
    expect(follow(START, ending, 1).state).toBe("draining");
  });

  test("it is still draining when the last pod that stopped has gone and others are held", () => {
    const before: NodeProgress = { ...START, state: "draining", podsLeft: 1 };
    expect(follow(before, seen({ unschedulable: true }, pods.slice(1)), 4).state).toBe("draining");
  });

  test("pods of DaemonSets aren't waited for", () => {
    expect(follow(START, seen({ unschedulable: true }, []), 5)).toMatchObject({ podsLeft: 0, emptyAfter: 5 });
  });

  test("a pod that comes back makes it not empty", () => {
    const empty = follow(START, seen({ unschedulable: true }, []), 5);
    expect(follow(empty, seen({ unschedulable: true }, pods), 6).emptyAfter).toBeUndefined();
  });

  test("empty is not drained until the node says so", () => {
    expect(follow(START, seen({ unschedulable: true }, []), 5).state).toBe("draining");
    expect(follow(START, seen(drained(), []), 7)).toMatchObject({
      state: "drained",
      drainedAfter: 7,
      secondsLeft: 99.5,
    });
  });

  test("a drain without an end in its record has no seconds to spare", () => {
    expect(follow(START, seen(drained({ endedAt: undefined }), []), 7).secondsLeft).toBeUndefined();
  });

  test("a node that isn't seen stays as it was", () => {
    expect(follow(START, { nodes: new Map(), pods: new Map(), reports: [] }, 3)).toBe(START);
  });
});

describe("what holds a node", () => {
  const pod = aPod({ name: "checkout-0" });
  const blocked: BudgetReport = { kind: "blocked", podUid: pod.uid, budget: "checkout-budget" };
  const past: BudgetReport = { ...blocked, kind: "deleted-past-budget" };

  test("is a pod with its budget", () => {
    const { heldBy } = follow(START, seen({ unschedulable: true }, [pod], [blocked]), 1);
    expect(heldBy).toEqual(["default/checkout-0 blocked by budget checkout-budget"]);
  });

  test("is no budget any more once the pod is told to stop", () => {
    const stopping = { ...pod, deletionTimestamp: ENDING };
    expect(follow(START, seen({ unschedulable: true }, [stopping], [blocked]), 1).heldBy).toEqual([]);
  });

  test("tells of the deletion past the budget while the pod is there", () => {
    const stopping = { ...pod, deletionTimestamp: ENDING };
    const { heldBy } = follow(START, seen({ unschedulable: true }, [stopping], [blocked, past]), 1);
    expect(heldBy).toEqual(["default/checkout-0 deleted past budget checkout-budget"]);
  });

  test("is never a pod of another node", () => {
    const { heldBy } = follow(START, seen({ unschedulable: true }, [aPod({ name: "web" })], [blocked]), 1);
    expect(heldBy).toEqual([]);
  });
});

describe("the lines about changes", () => {
  test("nothing new makes no line", () => {
    expect(changesBetween(START, START)).toEqual([]);
  });

  test("each thing that is new has a line, in the order of a drain", () => {
    const after: NodeProgress = {
      ...START,
      ...{ state: "draining", podsLeft: 1, cordonedAfter: 0.5 },
      heldBy: ["shop/checkout-0 blocked by budget checkout-budget"],
    };
    expect(changesBetween(START, after)).toEqual([
      "node-1  cordoned",
      "node-1  draining",
      "node-1  shop/checkout-0 blocked by budget checkout-budget",
      "node-1  pods left: 1",
    ]);
  });

  test("the end is told once", () => {
    const before: NodeProgress = { ...START, state: "draining", podsLeft: 0 };
    const after: NodeProgress = { ...before, state: "drained" };
    expect(changesBetween(before, after)).toEqual(["node-1  drained"]);
    expect(changesBetween(after, after)).toEqual([]);
  });
});
