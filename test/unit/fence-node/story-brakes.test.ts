/** Brakes: what looks like the death of many is the fault of something else. And: what a run costs, and shows. */
import { describe, expect, it } from "vitest";
import { FENCING_ENABLED_LABEL } from "../../../shared/domain/keys.ts";
import { aWorld, idOf, NO_TRACE, podsOn, runFor, traceOf } from "./world.ts";

describe("more than 10 % of the nodes silent at once", () => {
  it("are only observed, and an alarm can ring", async () => {
    const world = aWorld({ nodes: 20 });
    for (const n of [1, 2, 3]) {
      world.lives.silence(`node-${n}`);
      world.instances.put({ id: idOf(n), state: "terminated" });
    }
    await runFor(world, 600);
    for (const n of [1, 2, 3]) {
      expect(traceOf(world.model, `node-${n}`)).toEqual(NO_TRACE);
      expect(podsOn(world.model, `node-${n}`)).toHaveLength(3);
    }
    expect(world.facts).toContainEqual(
      expect.objectContaining({
        kind: "observed",
        silentShare: 0.15,
        suspected: 3,
        heldBecause: "3 of 20 nodes are silent at once, more than 2",
      }),
    );
  });

  it("may be two of twenty, and one of any", async () => {
    for (const [nodes, silent] of [
      [20, 2],
      [1, 1],
    ] as const) {
      const world = aWorld({ nodes });
      for (let n = 1; n <= silent; n++) {
        world.lives.silence(`node-${n}`);
        world.instances.put({ id: idOf(n), state: "terminated" });
      }
      await runFor(world, 240);
      expect(world.model.nodes()).toHaveLength(nodes - silent);
    }
  });

  it("hold up what is under fencing, but not its return to life", async () => {
    const world = aWorld({ nodes: 20, fencing: { stop: "never" } });
    world.lives.silence("node-1");
    await runFor(world, 180);
    expect(traceOf(world.model, "node-1").unschedulable).toBe(true);
    for (const n of [2, 3, 4]) world.lives.silence(`node-${n}`);
    await runFor(world, 60);
    world.instances.put({ id: idOf(1), state: "terminated" });
    await runFor(world, 120);
    expect(podsOn(world.model, "node-1")).toHaveLength(3);
    world.lives.comeBack("node-1");
    await runFor(world, 60);
    expect(traceOf(world.model, "node-1")).toEqual(NO_TRACE);
  });
});

describe("a group of nodes", () => {
  it("has at most 30 % of itself under fencing at once, the longest silent first", async () => {
    const world = aWorld({
      nodes: 100,
      fencing: { stop: "never" },
      node: { labels: { "eks.amazonaws.com/nodegroup": "others" } },
    });
    for (let n = 1; n <= 5; n++) {
      const node = world.model.node(`node-${n}`);
      if (node) world.model.changeNode(node, { labels: { "eks.amazonaws.com/nodegroup": "small" } });
    }
    await runFor(world, 60);
    for (let n = 1; n <= 3; n++) {
      world.lives.silence(`node-${n}`);
      world.clock.advance(n < 3 ? 20_000 : 0);
    }
    await runFor(world, 240);
    const cordoned = world.model.nodes().filter(({ unschedulable }) => unschedulable);
    expect(cordoned.map(({ name }) => name)).toEqual(["node-1"]);
    expect(world.facts).toContainEqual(
      expect.objectContaining({ kind: "observed", heldBecause: expect.stringContaining("1 of 5 nodes") }),
    );
    expect(world.facts).toContainEqual(
      expect.objectContaining({ kind: "decided", nodeName: "node-2", decision: "hold-brake" }),
    );
    // With the first one gone the next may follow.
    world.instances.put({ id: idOf(1), state: "terminated" });
    await runFor(world, 60);
    expect(world.model.node("node-1")).toBeUndefined();
    expect(world.model.node("node-2")?.unschedulable).toBe(true);
  });
});

describe("a run", () => {
  it("looks twice and ends where all nodes are heard of, and keeps nothing of them", async () => {
    const world = aWorld({ nodes: 3 });
    await runFor(world, 60);
    expect(world.cluster.counts.get("list leases")).toBe(4);
    expect(world.clock.sleeps).toHaveLength(1);
    const text = world.model.configMaps.list()[0]?.data.observations ?? "";
    expect(JSON.parse(text)).toMatchObject({ v: 1, holder: "run-1", nodes: {} });
    expect([...world.cluster.counts.keys()].toSorted()).toEqual([
      "create configmaps",
      "get configmaps",
      "list leases",
      "list nodes",
      "update configmaps",
    ]);
  });

  it("goes on looking while a node is silent, as long as it has time", async () => {
    const world = aWorld({ nodes: 3 });
    world.lives.silence("node-1");
    await runFor(world, 60);
    expect(world.cluster.counts.get("list leases")).toBe(8);
    const text = world.model.configMaps.list()[0]?.data.observations ?? "";
    expect(JSON.parse(text)).toMatchObject({
      nodes: { "node-1": { observations: 4, kubelet: { firstSeenAt: "2026-01-01T12:00:00.000Z" } } },
    });
  });

  it("never sleeps past its end", async () => {
    const world = aWorld({ nodes: 1 });
    world.lives.silence("node-1");
    const slept = world.clock.sleeps;
    await runFor(world, 60);
    expect(slept.reduce((sum, ms) => sum + ms, 0)).toBeLessThanOrEqual(56_500 - 3_000);
  });
});

describe("the label of an armed dog", () => {
  it("is set when the agent has armed it, and only then written", async () => {
    const world = aWorld({ says: { mode: "watchdog", armed: true }, nodes: 3 });
    await runFor(world, 180);
    for (const { labels } of world.model.nodes()) expect(labels[FENCING_ENABLED_LABEL]).toBe("");
    expect(world.cluster.counts.get("patch nodes")).toBe(3);
  });

  it("is removed when it no longer is", async () => {
    const world = aWorld({ says: { armed: false }, node: { labels: { [FENCING_ENABLED_LABEL]: "" } } });
    await runFor(world, 60);
    for (const { labels } of world.model.nodes()) expect(labels[FENCING_ENABLED_LABEL]).toBeUndefined();
  });

  it("of nodes without our agent is somebody else's", async () => {
    const world = aWorld({ says: undefined, node: { labels: { [FENCING_ENABLED_LABEL]: "" } } });
    await runFor(world, 60);
    for (const { labels } of world.model.nodes()) expect(labels[FENCING_ENABLED_LABEL]).toBe("");
  });
});
