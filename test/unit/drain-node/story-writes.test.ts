/** The patch of a node against conflicts, refusals, lost answers and new nodes. */
import { describe, expect, it } from "vitest";
import { drainNodes } from "../../../functions/drain-node/drain-node.ts";
import { DRAIN_ANNOTATION, DRAINING_LABEL, INTERRUPTION_TAINT } from "../../../shared/domain/keys.ts";
import { providerIdOf } from "../../builders/a-node.ts";
import { aWorld, decisions, drain, failing, idOf, interruptionOf, podsOn, reasons } from "./world.ts";

describe("writing the node", () => {
  it("case 6: a patch answered 409 is made again on the fresh node until it holds", async () => {
    const { clock, model, tools } = aWorld();
    let conflicts = 4;
    const contended = failing(tools, {
      patchNode: async (node, change, options) => {
        if (conflicts-- > 0) model.changeNode(model.node("node-1") ?? node, { labels: { touched: String(conflicts) } });
        return tools.cluster.patchNode(node, change, options);
      },
    });
    await drain([interruptionOf(1)], contended, clock);
    expect(model.node("node-1")).toMatchObject({
      unschedulable: true,
      labels: { touched: "0", [DRAINING_LABEL]: "drained" },
      taints: [{ key: INTERRUPTION_TAINT }],
    });
  });

  it("case 7: admission refuses the taint: reported, cordoned alone, drained all the same", async () => {
    const { clock, model, facts, tools } = aWorld();
    const strict = failing(tools, {
      patchNode: async (node, change, options) =>
        change.taints
          ? { kind: "refused", because: "admission webhook denied" }
          : tools.cluster.patchNode(node, change, options),
    });
    await drain([interruptionOf(1)], strict, clock);
    expect(model.node("node-1")).toMatchObject({ unschedulable: true, taints: [] });
    expect(podsOn(model, "node-1")).toEqual(["logs-1"]);
    expect(facts).toContainEqual({
      kind: "cordon-incomplete",
      nodeName: "node-1",
      because: "admission webhook denied",
    });
  });

  it("case 6: endless conflicts don't end a drain as done: it comes back, and evicts in the last minute all the same", async () => {
    const { clock, model, facts, tools } = aWorld();
    const contended = failing(tools, { patchNode: async () => ({ kind: "conflict" }) });
    expect(await drainNodes([interruptionOf(1)], contended)).toMatchObject([
      { kind: "again", because: expect.stringContaining("can't be cordoned") },
    ]);
    expect(podsOn(model, "node-1")).toContain("web-1-1");
    await drain([interruptionOf(1)], contended, clock);
    expect(podsOn(model, "node-1")).toEqual(["logs-1"]);
    expect(decisions(facts)).toContain("refused");
  });

  it("no pod is evicted from a node that still takes pods, until the last minute", async () => {
    const { clock, model, tools } = aWorld();
    const denied = failing(tools, { patchNode: async () => ({ kind: "refused", because: "forbidden" }) });
    await drainNodes([interruptionOf(1)], denied);
    expect(model.pods().some((pod) => pod.deletionTimestamp)).toBe(false);
    clock.advance(56_000);
    await drainNodes([interruptionOf(1)], denied);
    expect(model.pods().filter((pod) => pod.deletionTimestamp).length).toBe(2);
  });

  it("case 7: the refused taint is remembered, and reported once", async () => {
    const { clock, model, facts, tools } = aWorld();
    const strict = failing(tools, {
      patchNode: async (node, change, options) =>
        change.taints ? { kind: "refused", because: "denied" } : tools.cluster.patchNode(node, change, options),
    });
    await drain([interruptionOf(1)], strict, clock);
    expect(facts.filter(({ kind }) => kind === "cordon-incomplete")).toHaveLength(1);
    expect(JSON.parse(model.node("node-1")?.annotations[DRAIN_ANNOTATION] ?? "")).toMatchObject({
      decision: "drained",
      taintRefused: "denied",
    });
  });

  it("a patch whose answer was lost still counts as our cordon, and tells it", async () => {
    const { clock, model, facts, tools } = aWorld();
    let lost = 1;
    const lossy = failing(tools, {
      patchNode: async (node, change, options) => {
        const answer = await tools.cluster.patchNode(node, change, options);
        return lost-- > 0 ? { kind: "conflict" } : answer;
      },
    });
    await drain([interruptionOf(1)], lossy, clock);
    expect(facts.filter(({ kind }) => kind === "cordoned")).toHaveLength(1);
    expect(reasons(model)).toEqual(["InterruptionDrainStarted", "InterruptionDrained"]);
  });

  it("a node made anew for the same instance is found and drained at the next look", async () => {
    const { clock, model, tools } = aWorld();
    let raced = false;
    const racing = failing(tools, {
      patchNode: async (node, change, options) => {
        if (raced) return tools.cluster.patchNode(node, change, options);
        raced = true;
        model.removeNode("node-1");
        model.addNode({ name: "node-1", providerId: providerIdOf(idOf(1)), labels: {} });
        return { kind: "gone" };
      },
    });
    expect(await drainNodes([interruptionOf(1)], racing)).toMatchObject([{ kind: "again" }]);
    clock.advance(4_000);
    await drain([interruptionOf(1)], racing, clock);
    expect(model.node("node-1")?.labels[DRAINING_LABEL]).toBe("drained");
  });

  it("a node made anew under the same name in between is not touched", async () => {
    const { model, facts, tools } = aWorld();
    const racing = failing(tools, {
      patchNode: async () => {
        model.removeNode("node-1");
        model.addNode({ name: "node-1", providerId: providerIdOf(idOf(50)), labels: {} });
        return { kind: "conflict" };
      },
    });
    await drainNodes([interruptionOf(1)], racing);
    expect(model.node("node-1")?.unschedulable).toBe(false);
    expect(decisions(facts)).toEqual(["node-gone"]);
  });
});
