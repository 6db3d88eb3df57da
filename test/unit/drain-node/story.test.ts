/** What an operator sees at the end of a drain, and that it is one drain however often it is told. */
import { describe, expect, it } from "vitest";
import { drainNodes } from "../../../functions/drain-node/drain-node.ts";
import { Memory } from "../../../functions/drain-node/tools.ts";
import {
  DRAIN_ANNOTATION,
  DRAINING_LABEL,
  INSTANCE_ID_LABEL,
  INTERRUPTION_TAINT,
} from "../../../shared/domain/keys.ts";

import { aWorld, decisions, drain, failing, idOf, interruptionOf, podsOn, reasons } from "./world.ts";

describe("a notice drains its node", () => {
  it("cordoned, emptied of all but its DaemonSet's pods, and labelled so", async () => {
    const { clock, model, facts, tools } = aWorld();
    const { ended } = await drain([interruptionOf(1)], tools, clock);
    expect(ended).toMatchObject([{ kind: "done", because: expect.stringContaining("empty") }]);
    const node = model.node("node-1");
    expect(node).toMatchObject({
      unschedulable: true,
      labels: { [INSTANCE_ID_LABEL]: idOf(1), [DRAINING_LABEL]: "drained" },
      taints: [{ key: INTERRUPTION_TAINT, value: "spot-interruption", effect: "NoSchedule" }],
    });
    expect(JSON.parse(node?.annotations[DRAIN_ANNOTATION] ?? "")).toMatchObject({
      decision: "drained",
      endedAt: expect.any(String),
    });
    expect(podsOn(model, "node-1")).toEqual(["logs-1"]);
    expect(decisions(facts)).toEqual(["evict", "wait", "drained"]);
  });

  it("case 34: Events on the node tell the start and the end, once each", async () => {
    const { clock, model, tools } = aWorld();
    await drain([interruptionOf(1), interruptionOf(1)], tools, clock);
    await drain([interruptionOf(1)], tools, clock);
    expect(reasons(model)).toEqual(["InterruptionDrainStarted", "InterruptionDrained"]);
  });

  it("case 5: fifty at once are all drained, none is lost", async () => {
    const { clock, model, tools } = aWorld({ nodes: 50, pods: 10 });
    const { ended } = await drain(
      Array.from({ length: 50 }, (_, n) => interruptionOf(n + 1)),
      tools,
      clock,
    );
    expect(ended.map((outcome) => outcome?.kind)).toEqual(Array.from({ length: 50 }, () => "done"));
    expect(model.pods().every((pod) => pod.name.startsWith("logs-"))).toBe(true);
    expect(model.nodes().every((node) => node.unschedulable)).toBe(true);
  });

  it("all nodes of a batch are cordoned before anything is evicted", async () => {
    const { model, tools } = aWorld({ nodes: 3 });
    const cordonedAtFirstEviction: number[] = [];
    const spying = failing(tools, {
      evictPod: async (pod, grace) => {
        cordonedAtFirstEviction.push(model.nodes().filter((node) => node.unschedulable).length);
        return tools.cluster.evictPod(pod, grace);
      },
    });
    await drainNodes(
      [1, 2, 3].map((n) => interruptionOf(n)),
      spying,
    );
    expect(cordonedAtFirstEviction[0]).toBe(3);
  });

  it("only the interrupted node is touched", async () => {
    const { clock, model, tools } = aWorld({ nodes: 2 });
    const before = model.node("node-2");
    await drain([interruptionOf(1)], tools, clock);
    expect(model.node("node-2")).toEqual(before);
    expect(podsOn(model, "node-2")).toEqual(["logs-2", "web-2-1", "web-2-2"]);
  });

  it("the same event doubled, also within a batch, is one drain", async () => {
    const { clock, cluster, tools } = aWorld();
    await drain([interruptionOf(1), interruptionOf(1)], tools, clock);
    expect(cluster.counts.get("create pods/eviction")).toBe(2);
    const { ended } = await drain([interruptionOf(1)], tools, clock);
    expect(ended).toMatchObject([{ kind: "done" }]);
    expect(cluster.counts.get("create pods/eviction")).toBe(2);
    expect(cluster.counts.get("patch nodes")).toBe(2);
  });

  it("a function killed after the cordon, or after the evictions, is continued from what the cluster shows", async () => {
    const { clock, model, tools } = aWorld();
    const dies = failing(tools, { listPodsOnNode: () => Promise.reject(new Error("killed")) });
    await drainNodes([interruptionOf(1)], dies);
    expect(model.node("node-1")?.unschedulable).toBe(true);
    await drainNodes([interruptionOf(1)], tools);
    clock.advance(12_000);
    const { ended } = await drain([interruptionOf(1)], { ...tools, memory: new Memory() }, clock);
    expect(ended).toMatchObject([{ kind: "done" }]);
    expect(podsOn(model, "node-1")).toEqual(["logs-1"]);
  });
});
