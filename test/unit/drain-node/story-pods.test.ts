/** Pods that take their own time, and the pods of the relay. */
import { describe, expect, it } from "vitest";
import { drainNodes } from "../../../functions/drain-node/drain-node.ts";

import { aWorld, drain, interruptionOf, podsOn, START } from "./world.ts";

describe("pods with a time of their own", () => {
  it("one that was ending and would outlast the deadline is shortened before it", async () => {
    const { clock, model, tools } = aWorld({ pods: 0, podStopMs: 600_000 });
    const slow = model.addPod({ name: "slow", nodeName: "node-1", graceSeconds: 600 });
    model.deletePod("default", "slow", { uid: slow.uid });
    const { ended } = await drain([interruptionOf(1)], tools, clock);
    expect(ended).toMatchObject([{ kind: "done", because: expect.stringContaining("before the deadline") }]);
    expect(clock.now().getTime() - START.getTime()).toBeLessThan(120_000);
    expect(podsOn(model, "node-1")).toEqual(["logs-1"]);
  });

  const relayPod = (name: string, nodeName: string) => ({
    ...{ name, nodeName, namespace: "nodekeeper", labels: { "app.kubernetes.io/name": "nodekeeper-relay" } },
  });
  it.each([
    ["stays while the other relay isn't Ready", "node-2", { ready: false }, true],
    ["stays while the other relay is on the same node", "node-1", {}, true],
    [
      "stays while the other relay is ending",
      "node-2",
      { deletionTimestamp: new Date(START.getTime() + 30_000) },
      true,
    ],
    ["goes last while another is Ready elsewhere", "node-2", {}, false],
  ])("the relay's pod %s", async (_, otherNode, other, stays) => {
    const { clock, model, tools } = aWorld({ nodes: 2, pods: 0 });
    model.addPod(relayPod("relay-1", "node-1"));
    model.addPod({ ...relayPod("relay-2", otherNode), ...other });
    await drainNodes([interruptionOf(1)], tools);
    const relay = () => model.pods().find(({ name }) => name === "relay-1");
    expect(relay()?.deletionTimestamp === undefined).toBe(stays);
    await drain([interruptionOf(1)], tools, clock);
    expect(relay()).toBeUndefined();
  });
});
