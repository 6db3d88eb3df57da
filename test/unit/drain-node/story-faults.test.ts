/** Whatever goes wrong on the way, the signal comes back and the reason is told. */
import { describe, expect, it, vi } from "vitest";
import { drainNodes } from "../../../functions/drain-node/drain-node.ts";
import { DRAINING_LABEL } from "../../../shared/domain/keys.ts";
import { ClusterRefused, ClusterUnavailable } from "../../../shared/ports/cluster.ts";

import { aWorld, drain, failing, interruptionOf } from "./world.ts";

describe("faults", () => {
  const away = new ClusterUnavailable("listing pods: connection reset");

  it("a cluster that is away is asked again, nothing is acknowledged", async () => {
    const { tools } = aWorld();
    const broken = failing(tools, { listNodesByInstanceId: () => Promise.reject(away) });
    expect(await drainNodes([interruptionOf(1), interruptionOf(2)], broken)).toEqual([
      { kind: "again", afterSeconds: 1, because: away.message },
      { kind: "again", afterSeconds: 1, because: away.message },
    ]);
  });

  it("one node's trouble stays its own", async () => {
    const { model, tools } = aWorld({ nodes: 2 });
    const broken = failing(tools, {
      listPodsOnNode: (name) => (name === "node-1" ? Promise.reject(away) : tools.cluster.listPodsOnNode(name)),
    });
    await drainNodes([interruptionOf(1), interruptionOf(2)], broken);
    expect(
      model
        .pods()
        .filter((pod) => pod.deletionTimestamp)
        .map(({ nodeName }) => nodeName),
    ).toEqual(["node-2", "node-2"]);
  });

  it("when the invocation's time is over, the rest comes back in a second", async () => {
    const { tools } = aWorld();
    const outOfTime = {
      ...failing(tools, { listPodsOnNode: () => Promise.reject(away) }),
      timeBudget: AbortSignal.abort(),
    };
    expect(await drainNodes([interruptionOf(1)], outOfTime)).toMatchObject([
      { kind: "again", afterSeconds: 1, because: expect.stringContaining("time was over") },
    ]);
  });

  it("missing rights are tried until minutes after the deadline, then set aside with the reason", async () => {
    const { clock, tools } = aWorld();
    const denied = failing(tools, {
      listNodesByInstanceId: () => Promise.reject(new ClusterRefused("listing nodes: 403")),
    });
    const { ended, steps } = await drain([interruptionOf(1)], denied, clock);
    expect(ended).toMatchObject([{ kind: "dead-letter", because: expect.stringContaining("listing nodes: 403") }]);
    expect(steps).toBeLessThan(900);
  });

  it("however long a busy cluster asks to wait, an urgent signal is back in 5 s", async () => {
    const { tools } = aWorld();
    const busy = new ClusterUnavailable("listing pods: 429", { retryAfterSeconds: 60 });
    const throttled = failing(tools, { listPodsOnNode: () => Promise.reject(busy) });
    expect(await drainNodes([interruptionOf(1)], throttled)).toMatchObject([{ kind: "again", afterSeconds: 5 }]);
  });

  it("why evictions weren't answered is said with the decision", async () => {
    const { tools } = aWorld();
    const broken = failing(tools, { evictPod: async () => ({ kind: "unanswered", because: "500 webhook is down" }) });
    expect(await drainNodes([interruptionOf(1)], broken)).toMatchObject([
      { kind: "again", afterSeconds: 1, because: expect.stringContaining("2 unanswered (500 webhook is down)") },
    ]);
  });

  it("a slow Event doesn't hold up the evictions", async () => {
    const { model, tools } = aWorld();
    const { promise, resolve } = Promise.withResolvers<void>();
    const slow = failing(tools, { postEvent: () => promise });
    const step = drainNodes([interruptionOf(1)], slow);
    await vi.waitFor(() => expect(model.pods().filter((pod) => pod.deletionTimestamp)).toHaveLength(2));
    resolve();
    await step;
  });

  it("an Event that can't be posted holds up nothing", async () => {
    const { clock, model, facts, tools } = aWorld();
    await drain([interruptionOf(1)], failing(tools, { postEvent: () => Promise.reject(away) }), clock);
    expect(model.node("node-1")?.labels[DRAINING_LABEL]).toBe("drained");
    expect(facts).toContainEqual({ kind: "event-not-posted", because: away.message });
  });

  it("an unexpected error is noted, and the message comes back", async () => {
    const { facts, tools } = aWorld();
    const error = new TypeError("undefined is not a function");
    const buggy = failing(tools, { listPodsOnNode: () => Promise.reject(error) });
    expect(await drainNodes([interruptionOf(1)], buggy)).toMatchObject([{ kind: "again" }]);
    expect(facts).toContainEqual({ kind: "step-failed", error });
  });
});
