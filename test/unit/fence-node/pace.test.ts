/** The pace of a run where the cluster takes its time to answer, as every real one does. */
import { expect, it } from "vitest";
import { fenceNodes } from "../../../functions/fence-node/fence-node.ts";
import { ClusterUnavailable } from "../../../shared/ports/cluster.ts";
import type { FencingCluster } from "../../../shared/ports/fencing-cluster.ts";
import { aWorld, decisionsOn, idOf, podsOn, runFor, type World } from "./world.ts";

const RUN_MS = 56_500;

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

/** Runs that end when their time is over, as an invocation does: then no request is answered any more. */
async function runWithinLimits(world: World, runs: number, slow: Partial<FencingCluster>): Promise<void> {
  for (let run = 0; run < runs; run++) {
    const { clock, tools } = world;
    const startedAt = clock.now().getTime();
    const budget = new AbortController();
    const limited = <Given extends readonly unknown[], Answer>(ask: (...given: Given) => Promise<Answer>) => {
      return async (...given: Given) => {
        const answer = budget.signal.aborted ? undefined : await ask(...given);
        if (clock.now().getTime() >= startedAt + RUN_MS) budget.abort();
        if (answer === undefined || budget.signal.aborted) throw new ClusterUnavailable("aborted");
        return answer;
      };
    };
    const { listLeases, findLease, forceDeletePod, ...others } = { ...world.cluster, ...slow };
    const asked = { listLeases: limited(listLeases), findLease: limited(findLease) };
    await fenceNodes({
      ...tools,
      cluster: { ...others, ...asked, forceDeletePod: limited(forceDeletePod) },
      timeBudget: budget.signal,
      endsAt: new Date(startedAt + RUN_MS),
    });
    clock.advance(Math.max(0, startedAt + 60_000 - clock.now().getTime()));
  }
}

it.each([3, 5, 8, 13, 17, 19, 20])(
  "a run whose deletions take %i s each ends in good order, and is no failure of the cluster",
  async (seconds) => {
    const world = aWorld({ nodes: 20 });
    for (const n of [1, 2]) {
      world.instances.put({ id: idOf(n), state: "terminated" });
      world.lives.silence(`node-${n}`);
    }
    const forceDeletePod: FencingCluster["forceDeletePod"] = async (pod) => {
      world.clock.advance(seconds * 1_000);
      return world.cluster.forceDeletePod(pod);
    };
    await runWithinLimits(world, 8, { forceDeletePod });
    expect(world.facts.map(({ kind }) => kind)).not.toContain("pass-failed");
    expect(world.facts.map(({ kind }) => kind)).not.toContain("step-failed");
    expect(world.tools.memory.failedAt).toBeUndefined();
    expect([...podsOn(world.model, "node-1"), ...podsOn(world.model, "node-2")]).toEqual([]);
  },
);
