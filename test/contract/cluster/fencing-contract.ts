/** What the port `FencingCluster` promises, in any world. */
import { expect, test } from "vitest";
import type { ClusterNode } from "../../../shared/domain/node.ts";
import { newName } from "./names.ts";
import { podsOf } from "./pod-questions.ts";
import type { World } from "./world.ts";

/** More than one page of the API. */
const MANY_LEASES = 520;

export function fencingContract(world: () => World): void {
  const fencing = () => world().fencing;

  async function newNode(name = newName("node")): Promise<ClusterNode> {
    await world().addNode({ name });
    const node = await fencing().findNode(name);
    if (node === undefined) throw new Error(`looking for ${name}: not there`);
    return node;
  }

  test("a Lease shows when it was renewed and what its owner says", async () => {
    const [namespace, name] = [newName("leases"), newName("node")];
    const renewTime = new Date("2026-01-02T03:04:05.678Z");
    await world().putLease({ namespace, name, renewTime, annotations: { "nodekeeper.dev/fencing": "{}" } });
    const expected = { name, renewTime, annotations: { "nodekeeper.dev/fencing": "{}" } };
    expect(await fencing().findLease(namespace, name)).toMatchObject(expected);
    expect(await fencing().listLeases(namespace)).toMatchObject([expected]);
  });

  test("a renewal changes the version of a Lease, and of no other", async () => {
    const [namespace, name, other] = [newName("leases"), newName("node"), newName("node")];
    const put = (lease: string, renewTime: string) =>
      world().putLease({ namespace, name: lease, renewTime: new Date(renewTime), annotations: {} });
    await put(name, "2026-01-02T03:04:05Z");
    await put(other, "2026-01-02T03:04:05Z");
    const versions = async () =>
      new Map((await fencing().listLeases(namespace)).map((lease) => [lease.name, lease.resourceVersion]));
    const before = await versions();
    await put(name, "2026-01-02T03:04:10Z");
    const after = await versions();
    expect(after.get(name)).not.toBe(before.get(name));
    expect(after.get(other)).toBe(before.get(other));
    expect((await fencing().findLease(namespace, name))?.resourceVersion).toBe(after.get(name));
  });

  test("a Lease that isn't there is undefined", async () => {
    expect(await fencing().findLease(newName("leases"), "nobody")).toBeUndefined();
  });

  test("Leases that take several pages are read to their end, those of other namespaces are not", {
    timeout: 60_000,
  }, async () => {
    const namespace = newName("leases");
    const names = Array.from({ length: MANY_LEASES }, () => newName("node"));
    const put = (where: string, name: string) =>
      world().putLease({ namespace: where, name, renewTime: new Date(), annotations: {} });
    await put(newName("leases"), "node-elsewhere");
    await Promise.all(names.map((name) => put(namespace, name)));
    expect((await fencing().listLeases(namespace)).map(({ name }) => name).toSorted()).toEqual(names.toSorted());
  });

  test("a forced deletion lets a pod go at once, whatever its grace and its budget", async () => {
    const nodeName = newName("node");
    const pod = await world().addPod({ name: newName("pod"), namespace: newName("ns"), nodeName, graceSeconds: 300 });
    await world().addBudget({ ...pod, name: newName("pdb"), matchLabels: pod.labels, minAvailable: 1 });
    expect(await fencing().forceDeletePod(pod)).toEqual({ kind: "deleted" });
    expect(await podsOf(world(), pod)).toEqual([]);
    expect(await fencing().forceDeletePod(pod)).toEqual({ kind: "gone" });
  });

  test("a pod that was asked to end before is let go too", async () => {
    const nodeName = newName("node");
    const pod = await world().addPod({ name: newName("pod"), namespace: newName("ns"), nodeName });
    await world().cluster.deletePod(pod, 300);
    expect(await fencing().forceDeletePod(pod)).toEqual({ kind: "deleted" });
    expect(await podsOf(world(), pod)).toEqual([]);
  });

  test("a pod made anew under the same name is not deleted by force", async () => {
    const nodeName = newName("node");
    const pod = await world().addPod({ name: newName("pod"), namespace: newName("ns"), nodeName });
    await world().removePod(pod);
    const { uid } = await world().addPod({ name: pod.name, namespace: pod.namespace, nodeName });
    expect(await fencing().forceDeletePod(pod)).toEqual({ kind: "gone" });
    expect(await podsOf(world(), pod)).toMatchObject([{ uid }]);
  });

  test("the attachments of a node are found, and those of others are not", async () => {
    const [nodeName, name, persistentVolume] = [newName("node"), newName("attachment"), newName("volume")];
    await world().putVolumeAttachment({ name, nodeName, persistentVolume });
    await world().putVolumeAttachment({ name: newName("attachment"), nodeName: newName("node"), persistentVolume });
    expect(await fencing().listVolumeAttachments(nodeName)).toMatchObject([{ name, nodeName, persistentVolume }]);
  });

  test("an attachment is deleted, and one made anew under its name is not", async () => {
    const [nodeName, name, persistentVolume] = [newName("node"), newName("attachment"), newName("volume")];
    await world().putVolumeAttachment({ name, nodeName, persistentVolume });
    const [attachment] = await fencing().listVolumeAttachments(nodeName);
    if (attachment === undefined) throw new Error("looking for the attachment: not there");
    expect(await fencing().deleteVolumeAttachment(attachment)).toEqual({ kind: "deleted" });
    expect(await fencing().deleteVolumeAttachment(attachment)).toEqual({ kind: "gone" });
    await world().putVolumeAttachment({ name, nodeName, persistentVolume });
    expect(await fencing().deleteVolumeAttachment(attachment)).toEqual({ kind: "gone" });
    expect(await fencing().listVolumeAttachments(nodeName)).toHaveLength(1);
  });

  test("a node is deleted, and then gone", async () => {
    const node = await newNode();
    expect(await fencing().deleteNode(node)).toEqual({ kind: "deleted" });
    expect(await fencing().findNode(node.name)).toBeUndefined();
    expect(await fencing().deleteNode(node)).toEqual({ kind: "gone" });
  });

  test("a node made anew under the same name is not deleted", async () => {
    const node = await newNode();
    await world().removeNode(node.name);
    const { uid } = await newNode(node.name);
    expect(await fencing().deleteNode(node)).toEqual({ kind: "gone" });
    expect(await fencing().findNode(node.name)).toMatchObject({ uid });
  });

  test("a node that somebody wrote since it was read is not deleted", async () => {
    const node = await newNode();
    await world().touchNode(node.name);
    expect(await fencing().deleteNode(node)).toMatchObject({ kind: "unanswered" });
    expect(await fencing().findNode(node.name)).toMatchObject({ uid: node.uid });
  });

  test("a config map that isn't there is undefined, and then as it was written", async () => {
    const [namespace, name] = [newName("maps"), "fencing"];
    await world().ensureNamespace(namespace);
    expect(await fencing().findConfigMap({ namespace, name })).toBeUndefined();
    const created = await fencing().writeConfigMap({ namespace, name, data: { a: "1" }, resourceVersion: undefined });
    expect(created).toEqual({ kind: "written", resourceVersion: expect.any(String) });
    expect(await fencing().findConfigMap({ namespace, name })).toMatchObject({ data: { a: "1" } });
    const resourceVersion = created.kind === "written" ? created.resourceVersion : "";
    const again = await fencing().writeConfigMap({ namespace, name, data: { b: "2" }, resourceVersion });
    expect(again).toMatchObject({ kind: "written" });
    expect(await fencing().findConfigMap({ namespace, name })).toMatchObject({ data: { b: "2" } });
  });

  test("of two that write the same config map, the second is told", async () => {
    const [namespace, name] = [newName("maps"), "fencing"];
    await world().ensureNamespace(namespace);
    const write = (resourceVersion: string | undefined, by: string) =>
      fencing().writeConfigMap({ namespace, name, data: { by }, resourceVersion });
    const first = await write(undefined, "first");
    expect(await write(undefined, "second")).toEqual({ kind: "conflict" });
    const version = first.kind === "written" ? first.resourceVersion : "";
    expect(await write(version, "first again")).toMatchObject({ kind: "written" });
    expect(await write(version, "second")).toEqual({ kind: "conflict" });
    expect(await fencing().findConfigMap({ namespace, name })).toMatchObject({ data: { by: "first again" } });
  });
}
