/** The pace of a run where the cluster takes its time to answer, as every real one does. */
import { expect, it } from "vitest";
import { aWorld, decisionsOn, podsOn, runFor } from "./world.ts";

it.each([5, 300, 2_000])("a dead node is fenced also where each list takes %i ms", async (ms) => {
  const world = aWorld();
  world.instances.put({ id: "i-00000000000000001", state: "terminated" });
  world.lives.silence("node-1");
  const { clock, cluster } = world;
  const slow = {
    ...cluster,
    listNodes: async () => {
      clock.advance(ms);
      return cluster.listNodes();
    },
  };
  await runFor(world, 300, { cluster: slow });
  expect(decisionsOn(world.facts, "node-1")).toEqual(["hold-silent", "cordon", "fence"]);
  expect(podsOn(world.model, "node-1")).toEqual([]);
});
