/** How a drain ends that can not go well. */
import { describe, expect, it } from "vitest";
import { drainNodes } from "../../../functions/drain-node/drain-node.ts";
import { DRAINING_LABEL } from "../../../shared/domain/keys.ts";
import { ClusterUnavailable } from "../../../shared/ports/cluster.ts";
import { providerIdOf } from "../../builders/a-node.ts";
import { aWorld, decisions, drain, failing, idOf, interruptionOf, reasons, START } from "./world.ts";

describe("the end of a drain that can't finish", () => {
  it("is the dead letters, minutes after the deadline and far within 900 receives; the node isn't called drained", async () => {
    const { clock, model, tools } = aWorld();
    model.addNode({ name: "sick", providerId: providerIdOf(idOf(3)), labels: {}, ready: "False" });
    model.addPod({ name: "web-3", nodeName: "sick" });
    const stubborn = failing(tools, { evictPod: async () => ({ kind: "unanswered", because: "500" }) });
    const { ended, steps } = await drain([interruptionOf(3)], stubborn, clock);
    expect(ended).toMatchObject([{ kind: "dead-letter", because: expect.stringContaining("gave up") }]);
    expect(steps).toBeLessThan(900);
    expect(model.node("sick")?.labels[DRAINING_LABEL]).toBe("involuntary");
    expect(reasons(model)).toContain("InterruptionDrainGivenUp");
  });

  it("is given up on a Ready node too, and isn't taken for a stale signal", async () => {
    const { clock, model, facts, tools } = aWorld();
    const stubborn = failing(tools, { evictPod: async () => ({ kind: "unanswered", because: "500" }) });
    const { ended } = await drain([interruptionOf(1)], stubborn, clock);
    expect(ended).toMatchObject([{ kind: "dead-letter" }]);
    expect(decisions(facts).at(-1)).toBe("gave-up");
    expect(reasons(model)).toContain("InterruptionDrainGivenUp");
  });

  it("comes later for a signal that came late: it is tried for 5 min too", async () => {
    const { clock, tools } = aWorld();
    clock.advance(600_000);
    const late = interruptionOf(1, { receivedAt: clock.now() });
    const away = failing(tools, { listNodesByInstanceId: () => Promise.reject(new ClusterUnavailable("away")) });
    expect(await drainNodes([late], away)).toMatchObject([{ kind: "again" }]);
    clock.advance(301_000);
    expect(await drainNodes([late], away)).toMatchObject([{ kind: "dead-letter" }]);
  });

  it("case 41: an unreachable node's pods are asked to go with 1 s, and its kubelet isn't waited for", async () => {
    const { clock, model, facts, tools } = aWorld();
    model.silenceKubelet("node-1");
    const { ended } = await drain([interruptionOf(1)], tools, clock);
    expect(decisions(facts)).toEqual(["evict", "unreachable"]);
    expect(ended).toMatchObject([{ kind: "done" }]);
    const web = model.pods().filter((pod) => pod.name.startsWith("web"));
    expect(web.map((pod) => pod.deletionTimestamp)).toEqual([
      new Date(START.getTime() + 1000),
      new Date(START.getTime() + 1000),
    ]);
    expect(model.node("node-1")?.labels[DRAINING_LABEL]).toBe("involuntary");
  });

  it("a stale signal about a healthy node changes nothing", async () => {
    const { clock, model, cluster, facts, tools } = aWorld();
    clock.advance(421_000);
    await drain([interruptionOf(1)], tools, clock);
    expect(decisions(facts)).toEqual(["stale"]);
    expect(model.node("node-1")?.unschedulable).toBe(false);
    expect(cluster.counts.get("patch nodes")).toBeUndefined();
  });

  it("a stale signal doesn't speak for a fresh one of the same instance", async () => {
    const { clock, model, tools } = aWorld();
    clock.advance(600_000);
    const fresh = interruptionOf(1, {
      id: "fresh",
      at: clock.now(),
      deadline: new Date(clock.now().getTime() + 120_000),
    });
    await drainNodes([interruptionOf(1), fresh], tools);
    expect(model.node("node-1")?.unschedulable).toBe(true);
    expect(model.pods().filter((pod) => pod.deletionTimestamp)).toHaveLength(2);
  });

  it("a node that is gone has nothing left to drain", async () => {
    const { clock, model, instances, facts, tools } = aWorld();
    instances.put({ id: idOf(1), state: "terminated", tags: { "kubernetes.io/cluster/blue": "owned" } });
    await drainNodes([interruptionOf(1)], tools);
    model.removeNode("node-1");
    clock.advance(3_000);
    await drain([interruptionOf(1)], tools, clock);
    expect(decisions(facts)).toEqual(["evict", "node-gone"]);
  });
});
