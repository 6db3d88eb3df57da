/** Budgets are asked, waited for as long as there is time, and named where they block. */
import { describe, expect, it } from "vitest";
import { drainNodes } from "../../../functions/drain-node/drain-node.ts";
import { Memory } from "../../../functions/drain-node/tools.ts";
import { DRAIN_ANNOTATION, DRAINING_LABEL } from "../../../shared/domain/keys.ts";
import type { Policy } from "../../../shared/domain/policy.ts";
import { ClusterRefused } from "../../../shared/ports/cluster.ts";

import { aWorld, drain, failing, interruptionOf, podsOn, reasons, START } from "./world.ts";

describe("budgets", () => {
  function aBlockedWorld(graceSeconds = 30, policy?: Policy) {
    const world = aWorld({ pods: 1, ...(policy && { policy }) });
    world.model.addPod({ name: "db-1", nodeName: "node-1", labels: { app: "db" }, graceSeconds });
    world.model.addBudget({ namespace: "default", name: "db", matchLabels: { app: "db" }, minAvailable: 1 });
    return world;
  }

  it("case 47: an Event on the pod names the budget, once for the whole incident", async () => {
    const { clock, model, tools } = aBlockedWorld();
    await drain([interruptionOf(1)], tools, clock);
    const blocked = model.events().filter(({ reason }) => reason === "EvictionBlocked");
    expect(blocked).toMatchObject([
      { regarding: { kind: "Pod", name: "db-1" }, note: expect.stringContaining("db refuses") },
    ]);
  });

  it("case 47: two notices of one interruption, with ids of their own, tell it once", async () => {
    const { clock, model, tools } = aBlockedWorld();
    await drainNodes([interruptionOf(1, { id: "first" })], tools);
    await drainNodes([interruptionOf(1, { id: "second" })], tools);
    await drain([interruptionOf(1, { id: "first" })], tools, clock);
    await drain([interruptionOf(1, { id: "second" })], tools, clock);
    expect(reasons(model).toSorted()).toEqual([
      "DeletedPastBudget",
      "EvictionBlocked",
      "InterruptionDrainStarted",
      "InterruptionDrained",
    ]);
  });

  it("case 30: the pod is deleted past its budget in time to run its grace", async () => {
    const { clock, model, facts, tools } = aBlockedWorld();
    const goneAt: number[] = [];
    const watched = failing(tools, {
      deletePod: async (pod, grace) => {
        goneAt.push((clock.now().getTime() - START.getTime()) / 1000);
        return tools.cluster.deletePod(pod, grace);
      },
    });
    await drain([interruptionOf(1)], watched, clock);
    expect(goneAt[0]).toBeGreaterThanOrEqual(85);
    expect(goneAt[0]).toBeLessThan(86);
    expect(facts).toContainEqual({ kind: "deleted-past-budget", pod: "default/db-1", budget: "db", graceSeconds: 30 });
    expect(reasons(model)).toContain("DeletedPastBudget");
  });

  it("the first refusal is kept on the node, so that patience survives any function", async () => {
    const { clock, model, tools } = aBlockedWorld();
    await drainNodes([interruptionOf(1)], tools);
    clock.advance(3_000);
    await drainNodes([interruptionOf(1)], { ...tools, memory: new Memory() });
    expect(JSON.parse(model.node("node-1")?.annotations[DRAIN_ANNOTATION] ?? "")).toMatchObject({
      blockedSince: { apps: START.toISOString() },
    });
  });

  it("a budget that yields in time is not bypassed", async () => {
    const { clock, model, facts, tools } = aBlockedWorld();
    await drainNodes([interruptionOf(1)], tools);
    model.addPod({ name: "db-2", nodeName: "node-9", labels: { app: "db" } });
    clock.advance(90_000);
    await drain([interruptionOf(1)], tools, clock);
    expect(facts.filter(({ kind }) => kind === "deleted-past-budget")).toEqual([]);
    expect(podsOn(model, "node-1")).toEqual(["logs-1"]);
  });

  it("two budgets over one pod are both named, though the answer names neither", async () => {
    const { clock, model, tools } = aBlockedWorld();
    model.addBudget({ namespace: "default", name: "db-too", matchLabels: { app: "db" }, minAvailable: 1 });
    await drain([interruptionOf(1)], tools, clock);
    const [blocked] = model.events().filter(({ reason }) => reason === "EvictionBlocked");
    expect(blocked?.note).toContain("PodDisruptionBudget db, db-too refuses");
  });

  it("no drain fails because a budget can't be named", async () => {
    const { model, tools } = aBlockedWorld();
    const nameless = failing(tools, {
      evictPod: async () => ({ kind: "blocked", budget: undefined, because: "two budgets" }),
      listBudgetNames: () => Promise.reject(new ClusterRefused("listing budgets: 403")),
    });
    expect(await drainNodes([interruptionOf(1)], nameless)).toMatchObject([{ kind: "again", afterSeconds: 3 }]);
    expect(
      model
        .events()
        .map(({ note }) => note)
        .join(),
    ).toContain("PodDisruptionBudget unnamed refuses");
  });

  it("case 19: one node isn't delayed by ten that are blocked", async () => {
    const { clock, model, tools } = aWorld({ nodes: 11, pods: 1 });
    for (let n = 1; n <= 10; n++) model.addPod({ name: `db-${n}`, nodeName: `node-${n}`, labels: { app: "db" } });
    model.addBudget({ namespace: "default", name: "db", matchLabels: { app: "db" }, minAvailable: 10 });
    const signals = Array.from({ length: 11 }, (_, n) => interruptionOf(n + 1));
    // The blocked ones are answered only after the free one was asked: whoever takes them in turn waits for ever.
    const { promise: freeOneAsked, resolve: askFreeOne } = Promise.withResolvers<void>();
    const slow = failing(tools, {
      evictPod: async (pod, grace) => {
        if (pod.name === "web-11-1") askFreeOne();
        await freeOneAsked;
        return tools.cluster.evictPod(pod, grace);
      },
    });
    for (let step = 0; step < 4; step++) {
      await drainNodes(signals, slow);
      clock.advance(3_000);
    }
    expect(model.node("node-11")?.labels[DRAINING_LABEL]).toBe("drained");
    expect(model.node("node-1")?.labels[DRAINING_LABEL]).toBe("involuntary");
  });
});
