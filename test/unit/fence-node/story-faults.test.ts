/** When the world moves, answers fail or somebody else is at work: what is not done then. */
import { describe, expect, it } from "vitest";
import { FENCING_RECORD_ANNOTATION } from "../../../shared/domain/fencing-record.ts";
import { FENCING_CONFIG_MAP } from "../../../shared/domain/keys.ts";
import { ClusterUnavailable } from "../../../shared/ports/cluster.ts";
import type { FencingCluster } from "../../../shared/ports/fencing-cluster.ts";
import { providerIdOf } from "../../builders/a-node.ts";
import {
  attachmentsOf,
  aWorld,
  decisionsOn,
  idOf,
  NO_TRACE,
  podsOn,
  runFor,
  runOnePass,
  traceOf,
  type World,
} from "./world.ts";

/** A world whose first node is silent and dead for EC2, just before the run that will fence it. */
async function aDeadNode(given: Parameters<typeof aWorld>[0] = {}): Promise<World> {
  const world = aWorld(given);
  world.lives.silence("node-1");
  await runFor(world, 180);
  world.instances.put({ id: idOf(1), state: "terminated" });
  return world;
}

const failing = ({ cluster }: World, methods: Partial<FencingCluster>) => ({ cluster: { ...cluster, ...methods } });
const away = async (): Promise<never> => {
  throw new ClusterUnavailable("listing leases: 503");
};

describe("an API server that is away", () => {
  it("for everybody for 5 min: nothing happens to anyone", async () => {
    const world = aWorld();
    await runFor(world, 120);
    world.lives.isAway = true;
    const lists = { listLeases: away, findConfigMap: away, writeConfigMap: away, listNodes: away };
    await runFor(world, 300, failing(world, lists));
    // It answers again before the nodes have noticed.
    await runFor(world, 20);
    world.lives.isAway = false;
    await runFor(world, 300);
    expect(world.facts.filter(({ kind }) => kind === "pass-failed").length).toBeGreaterThan(5);
    expect(world.facts.filter(({ kind }) => kind === "decided")).toEqual([]);
    for (const { name } of world.model.nodes()) expect(traceOf(world.model, name)).toEqual(NO_TRACE);
  });

  it("for a pass: for two minutes after it a node that is dead is only observed", async () => {
    const world = await aDeadNode();
    let failures = 1;
    const listLeases: FencingCluster["listLeases"] = (namespace) =>
      failures-- > 0 ? away() : world.cluster.listLeases(namespace);
    await runFor(world, 60, failing(world, { listLeases }));
    expect(podsOn(world.model, "node-1")).toHaveLength(3);
    await runFor(world, 60);
    expect(podsOn(world.model, "node-1")).toHaveLength(3);
    await runFor(world, 60);
    expect(world.model.node("node-1")).toBeUndefined();
  });

  it("when one of the two lists fails, half a look is none", async () => {
    const world = await aDeadNode();
    const listLeases: FencingCluster["listLeases"] = (namespace) =>
      namespace === "nodekeeper" ? world.cluster.listLeases(namespace) : away();
    await runFor(world, 300, failing(world, { listLeases }));
    expect(podsOn(world.model, "node-1")).toHaveLength(3);
  });

  it("when the failure can't be written down, this process remembers it", async () => {
    const world = await aDeadNode();
    await runFor(world, 60, failing(world, { listLeases: away, writeConfigMap: away }));
    expect(world.tools.memory.failedAt).toBeDefined();
    await runFor(world, 60);
    expect(podsOn(world.model, "node-1")).toHaveLength(3);
  });
});

describe("runs that miss some minutes", () => {
  it("begin to count anew, and do nothing to a node that they only now see silent", async () => {
    const world = await aDeadNode();
    world.clock.advance(120_000);
    await runFor(world, 60);
    expect(podsOn(world.model, "node-1")).toHaveLength(3);
    await runFor(world, 120);
    expect(world.model.node("node-1")).toBeUndefined();
  });
});

describe("two runs at the same time", () => {
  it("end where the second has written the observations", async () => {
    const world = await aDeadNode();
    const writeConfigMap: FencingCluster["writeConfigMap"] = async (map) => {
      await world.cluster.writeConfigMap(map);
      return world.cluster.writeConfigMap(map);
    };
    await runFor(world, 60, failing(world, { writeConfigMap }));
    expect(world.facts.at(-1)).toMatchObject({ kind: "run-ended" });
    expect(podsOn(world.model, "node-1")).toHaveLength(3);
  });

  it("do to a dead node what one would have done", async () => {
    const world = await aDeadNode();
    await Promise.all([runFor(world, 120), runFor(world, 120, { holder: "run-2" })]);
    expect(world.model.node("node-1")).toBeUndefined();
    expect(podsOn(world.model, "node-1")).toEqual([]);
    for (const n of [2, 3, 4, 5]) {
      expect(traceOf(world.model, `node-${n}`)).toEqual(NO_TRACE);
      expect(podsOn(world.model, `node-${n}`)).toHaveLength(3);
    }
    expect(world.facts.filter(({ kind }) => kind === "run-ended").length).toBeGreaterThan(0);
  });
});

describe("observations of a version that isn't known", () => {
  it("are left alone, and nothing is done", async () => {
    const world = aWorld();
    const map = { ...FENCING_CONFIG_MAP, data: { observations: '{"v":2}' } };
    world.model.configMaps.put(map);
    world.lives.silence("node-1");
    world.instances.put({ id: idOf(1), state: "terminated" });
    await runFor(world, 300);
    expect(world.model.configMaps.list()).toMatchObject([map]);
    expect(world.facts.map(({ kind }) => kind)).toEqual(Array.from({ length: 5 }, () => "pass-failed"));
    expect(traceOf(world.model, "node-1")).toEqual(NO_TRACE);
  });
});

describe("a record of a version that isn't known", () => {
  it("is left alone, and so is its node", async () => {
    const world = aWorld({ node: { annotations: { [FENCING_RECORD_ANNOTATION]: '{"v":2}' } } });
    world.lives.silence("node-1");
    world.instances.put({ id: idOf(1), state: "terminated" });
    await runFor(world, 300);
    expect(decisionsOn(world.facts, "node-1")).toContain("hold-unknown-record");
    expect(podsOn(world.model, "node-1")).toHaveLength(3);
    expect(world.model.node("node-1")?.annotations).toEqual({ [FENCING_RECORD_ANNOTATION]: '{"v":2}' });
  });
});

describe("in the middle of fencing", () => {
  it("a node made anew under the same name is untouched, and so are its pods", async () => {
    const world = await aDeadNode();
    const { cluster, model } = world;
    const forceDeletePod: FencingCluster["forceDeletePod"] = async (pod) => {
      const answer = await cluster.forceDeletePod(pod);
      if (model.node("node-1")?.uid !== "another") {
        model.removeNode("node-1");
        model.addNode({ name: "node-1", uid: "another", bootId: "boot-2", providerId: providerIdOf(idOf(9)) });
        model.addPod({ name: "new-pod", nodeName: "node-1" });
      }
      return answer;
    };
    await runFor(world, 10, failing(world, { forceDeletePod }));
    expect(model.node("node-1")).toMatchObject({ uid: "another", unschedulable: false, taints: [] });
    expect(podsOn(model, "node-1")).toContain("new-pod");
    expect(attachmentsOf(model, "node-1")).toHaveLength(1);
    expect(world.facts).toContainEqual(
      expect.objectContaining({ kind: "fencing-stopped", because: "the Node was made anew under the same name" }),
    );
  });

  it.each<[string, (world: World) => void]>([
    [
      "a renewal by the kubelet",
      ({ model }) => {
        model.leases.put({ namespace: "kube-node-lease", name: "node-1", renewTime: undefined, annotations: {} });
      },
    ],
    [
      "a renewal by the agent",
      ({ model }) => {
        model.leases.put({ namespace: "nodekeeper", name: "node-1", renewTime: undefined, annotations: {} });
      },
    ],
    ["a node that is Ready again", ({ model }) => model.setReady("node-1", "True")],
    [
      "a node that is booted again",
      ({ model }) => {
        const node = model.node("node-1");
        if (node) model.addNode({ ...node, bootId: "boot-2" });
      },
    ],
    [
      "somebody who begins to work on it",
      ({ model }) => {
        const node = model.node("node-1");
        if (node) model.changeNode(node, { annotations: { "nodekeeper.dev/paused": "" } });
      },
    ],
  ])("%s ends it: what is left is not touched", async (_, happen) => {
    const world = await aDeadNode();
    for (let n = 1; n <= 20; n++) world.model.addPod({ name: `more-${n}`, nodeName: "node-1" });
    let hasHappened = false;
    const forceDeletePod: FencingCluster["forceDeletePod"] = async (pod) => {
      if (!hasHappened) happen(world);
      hasHappened = true;
      return world.cluster.forceDeletePod(pod);
    };
    await runOnePass(world, failing(world, { forceDeletePod }));
    // The wave that was under way is the last.
    expect(podsOn(world.model, "node-1")).toHaveLength(13);
    expect(attachmentsOf(world.model, "node-1")).toHaveLength(1);
    expect(world.model.node("node-1")).toBeDefined();
    expect(world.facts.some(({ kind }) => kind === "fencing-stopped")).toBe(true);
  });

  it("a pod that can't be deleted keeps volumes and Node until it can", async () => {
    const world = await aDeadNode();
    const forceDeletePod: FencingCluster["forceDeletePod"] = async (pod) =>
      pod.name === "db-1" ? { kind: "refused", because: "403 no" } : world.cluster.forceDeletePod(pod);
    await runFor(world, 60, failing(world, { forceDeletePod }));
    expect(podsOn(world.model, "node-1")).toEqual(["db-1"]);
    expect(attachmentsOf(world.model, "node-1")).toHaveLength(1);
    expect(world.facts).toContainEqual(
      expect.objectContaining({ kind: "deletion-failed", object: "pod default/db-1" }),
    );
    await runFor(world, 60);
    expect(world.model.node("node-1")).toBeUndefined();
  });

  it("a run that is killed after any of its requests is taken up by the next", async () => {
    for (const method of [
      "patchNode",
      "forceDeletePod",
      "deleteVolumeAttachment",
      "deleteNode",
      "postEvent",
    ] as const) {
      const world = await aDeadNode();
      const dies = async (): Promise<never> => {
        throw new ClusterUnavailable(`killed in ${method}`);
      };
      await runFor(world, 60, failing(world, { [method]: dies }));
      await runFor(world, 60);
      expect(world.model.node("node-1"), method).toBeUndefined();
      expect(podsOn(world.model, "node-1"), method).toEqual([]);
      expect(attachmentsOf(world.model, "node-1"), method).toEqual([]);
    }
  });
});

describe("a taint that admission refuses", () => {
  it("is left out, and the node is cordoned and fenced all the same", async () => {
    const world = aWorld();
    world.lives.silence("node-1");
    const patchNode: FencingCluster["patchNode"] = async (node, change, options) =>
      change.taints?.some(({ key }) => key === "nodekeeper.dev/interruption")
        ? { kind: "refused", because: "403 no such taint" }
        : world.cluster.patchNode(node, change, options);
    await runFor(world, 180, failing(world, { patchNode }));
    expect(traceOf(world.model, "node-1")).toMatchObject({ unschedulable: true, taints: [] });
    expect(world.facts).toContainEqual(expect.objectContaining({ kind: "patch-failed", because: "403 no such taint" }));
    world.instances.put({ id: idOf(1), state: "terminated" });
    await runFor(world, 60, failing(world, { patchNode }));
    expect(world.model.node("node-1")).toBeUndefined();
  });
});

describe("an end that EC2 doesn't take", () => {
  it("is asked for again, and nothing is deleted", async () => {
    const world = aWorld();
    world.lives.silence("node-1");
    const endInstance = world.instances.endInstance.bind(world.instances);
    world.instances.endInstance = async (id, how) => {
      world.instances.refuse("RequestLimitExceeded");
      await endInstance(id, how).finally(() => world.instances.refuse(undefined));
    };
    await runFor(world, 420);
    expect(world.instances.ended).toEqual([]);
    expect(world.facts.filter(({ kind }) => kind === "instance-not-ended").length).toBeGreaterThan(1);
    expect(podsOn(world.model, "node-1")).toHaveLength(3);
    world.instances.endInstance = endInstance;
    await runFor(world, 60);
    expect(world.model.node("node-1")).toBeUndefined();
  });
});
