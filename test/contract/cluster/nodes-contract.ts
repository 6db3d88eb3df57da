/** What the port `Cluster` promises about Nodes, in any world. */
import { expect, test } from "vitest";
import { INSTANCE_ID_LABEL } from "../../../shared/domain/keys.ts";
import type { ClusterNode } from "../../../shared/domain/node.ts";
import { providerIdOf } from "../../builders/a-node.ts";
import { newInstanceId, newName } from "./names.ts";
import type { World } from "./world.ts";

const TAINT = { key: "nodekeeper.dev/interruption", value: "spot-interruption", effect: "NoSchedule" } as const;

export function nodesContract(world: () => World): void {
  async function newNode(given: Partial<ClusterNode> = {}): Promise<ClusterNode> {
    const name = newName("node");
    await world().addNode({ name, ...given });
    const node = await world().cluster.findNode(name);
    if (node === undefined) throw new Error(`looking for ${name}: not there`);
    return node;
  }

  async function labelled(instanceId: string): Promise<ClusterNode> {
    return newNode({ providerId: providerIdOf(instanceId), labels: { [INSTANCE_ID_LABEL]: instanceId } });
  }

  test("nodes of several instances are found by their label in one question", async () => {
    const [one, two, three] = [newInstanceId(), newInstanceId(), newInstanceId()];
    const nodes = [await labelled(one), await labelled(two)];
    await labelled(three);
    const found = await world().cluster.listNodesByInstanceId([one, two, newInstanceId()]);
    expect(found.map(({ name }) => name).toSorted()).toEqual(nodes.map(({ name }) => name).toSorted());
  });

  test("no instance ids find no nodes", async () => {
    await newNode();
    expect(await world().cluster.listNodesByInstanceId([])).toEqual([]);
  });

  test("the list of all nodes has them all", async () => {
    const nodes = [await newNode(), await newNode()];
    await expect
      .poll(async () => (await world().cluster.listNodes()).map(({ name }) => name))
      .toEqual(expect.arrayContaining(nodes.map(({ name }) => name)));
  });

  test("a node shows what decisions need", async () => {
    const given = {
      providerId: providerIdOf("i-00000000000000abc"),
      labels: { zone: "a" },
      annotations: { note: "kept" },
      taints: [{ key: "dedicated", value: "gpu", effect: "NoExecute", timeAdded: "2026-01-02T03:04:05Z" } as const],
      unschedulable: true,
      ready: "Unknown",
      bootId: "boot-7",
    } as const;
    expect(await newNode(given)).toMatchObject(given);
  });

  test("a node that doesn't exist is undefined", async () => {
    expect(await world().cluster.findNode(newName("node"))).toBeUndefined();
  });

  test("one patch cordons, labels, annotates and taints, and answers with the new node", async () => {
    const node = await newNode({ labels: { old: "stays" } });
    const answer = await world().cluster.patchNode(node, {
      unschedulable: true,
      labels: { "nodekeeper.dev/draining": "involuntary" },
      annotations: { "nodekeeper.dev/cordoned-by": "spot-interruption/1" },
      taints: [TAINT],
    });
    const after = await world().cluster.findNode(node.name);
    expect(answer).toEqual({ kind: "patched", node: after });
    expect(after).toMatchObject({
      unschedulable: true,
      labels: { old: "stays", "nodekeeper.dev/draining": "involuntary" },
    });
    expect(after?.annotations["nodekeeper.dev/cordoned-by"]).toBe("spot-interruption/1");
    expect(after?.taints).toContainEqual(TAINT);
  });

  test("undefined takes a label and an annotation away, and false the cordon", async () => {
    const node = await newNode({ labels: { gone: "x", stays: "y" }, annotations: { gone: "x" }, unschedulable: true });
    const change = { labels: { gone: undefined }, annotations: { gone: undefined }, unschedulable: false };
    await world().cluster.patchNode(node, change);
    const after = await world().cluster.findNode(node.name);
    expect(after).toMatchObject({ unschedulable: false, labels: { stays: "y" } });
    expect(after?.labels).not.toHaveProperty("gone");
    expect(after?.annotations).not.toHaveProperty("gone");
  });

  test("the list of taints is replaced as a whole", async () => {
    const kept = { key: "kept", effect: "NoExecute", timeAdded: "2026-01-02T03:04:05Z" } as const;
    const node = await newNode({ taints: [kept, { key: "dropped", effect: "NoSchedule" }] });
    await world().cluster.patchNode(node, { taints: [kept, TAINT] });
    expect((await world().cluster.findNode(node.name))?.taints).toEqual([kept, TAINT]);
  });

  test("a patch of a node that somebody else wrote meanwhile changes nothing", async () => {
    const node = await newNode();
    await world().touchNode(node.name);
    expect(await world().cluster.patchNode(node, { unschedulable: true })).toEqual({ kind: "conflict" });
    expect((await world().cluster.findNode(node.name))?.unschedulable).toBe(false);
  });

  test("an unconditional patch goes through all the same", async () => {
    const node = await newNode();
    await world().touchNode(node.name);
    const answer = await world().cluster.patchNode(node, { unschedulable: true }, { unconditional: true });
    expect(answer).toMatchObject({ kind: "patched", node: { unschedulable: true } });
  });

  test.each([true, false])(
    "a node made anew under the same name is not patched (unconditional: %s)",
    async (unconditional) => {
      const node = await newNode();
      await world().removeNode(node.name);
      await world().addNode({ name: node.name });
      const answer = await world().cluster.patchNode(node, { unschedulable: true }, { unconditional });
      expect(answer).toEqual({ kind: "conflict" });
      expect((await world().cluster.findNode(node.name))?.unschedulable).toBe(false);
    },
  );

  test("a patch of a node that is gone says so", async () => {
    const node = await newNode();
    await world().removeNode(node.name);
    expect(await world().cluster.patchNode(node, { unschedulable: true })).toEqual({ kind: "gone" });
  });

  test("what validation refuses is refused with the reason, and nothing of it is written", async () => {
    const node = await newNode();
    const answer = await world().cluster.patchNode(node, { unschedulable: true, labels: { "not a label!": "x" } });
    expect(answer).toMatchObject({ kind: "refused", because: expect.stringContaining("metadata.labels") });
    expect((await world().cluster.findNode(node.name))?.unschedulable).toBe(false);
  });

  test("saying the same again leaves the node's version alone", async () => {
    const node = await newNode({ unschedulable: true });
    const answer = await world().cluster.patchNode(node, { unschedulable: true });
    expect(answer).toMatchObject({ kind: "patched", node: { resourceVersion: node.resourceVersion } });
  });
}
