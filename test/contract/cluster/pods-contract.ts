/** What the port `Cluster` promises about reading and deleting Pods, in any world. */
import { expect, test } from "vitest";
import type { Pod } from "../../../shared/domain/pod.ts";
import { newName } from "./names.ts";
import { podsOf, secondsUntilEnd } from "./pod-questions.ts";
import type { World } from "./world.ts";

/** More than one page of the API. */
const MANY_PODS = 520;

export function podsContract(world: () => World): void {
  const newPod = (given: Partial<Pod> = {}) =>
    world().addPod({ name: newName("pod"), namespace: newName("ns"), nodeName: newName("node"), ...given });

  test("the pods of a node are listed over all namespaces, those of others are not", async () => {
    const nodeName = newName("node");
    const pods = [await newPod({ nodeName }), await newPod({ nodeName })];
    await newPod();
    const found = await world().cluster.listPodsOnNode(nodeName);
    expect(found.map(({ uid }) => uid).toSorted()).toEqual(pods.map(({ uid }) => uid).toSorted());
  });

  test("a list that takes several pages is read to its end", { timeout: 60_000 }, async () => {
    const [nodeName, namespace] = [newName("node"), newName("ns")];
    const names = Array.from({ length: MANY_PODS }, () => newName("pod"));
    await Promise.all(names.map((name) => newPod({ name, namespace, nodeName, phase: "Pending", ready: false })));
    const found = await world().cluster.listPodsOnNode(nodeName);
    expect(found.map(({ name }) => name).toSorted()).toEqual(names.toSorted());
  });

  test("a pod shows what decisions need", async () => {
    const given = {
      phase: "Running",
      ready: true,
      labels: { app: "db" },
      annotations: { note: "kept" },
      controller: { apiVersion: "apps/v1", kind: "StatefulSet", name: "db" },
      priorityClassName: "system-cluster-critical",
      graceSeconds: 90,
      deletionTimestamp: undefined,
    } as const;
    const pod = await newPod({ ...given, tolerations: [{ key: "nodekeeper.dev/interruption" }, { key: undefined }] });
    const [found] = await podsOf(world(), pod);
    expect(found).toMatchObject({ ...given, name: pod.name, namespace: pod.namespace, uid: pod.uid });
    expect(found?.tolerations).toContainEqual({ key: "nodekeeper.dev/interruption" });
    expect(found?.tolerations).toContainEqual({ key: undefined });
  });

  test("pods of a namespace are found by a label", async () => {
    const namespace = newName("ns");
    const pod = await newPod({ namespace, labels: { app: "relay" } });
    await newPod({ namespace, labels: { app: "other" } });
    await newPod({ labels: { app: "relay" } });
    const find = async () =>
      (await world().cluster.listPodsByLabel(namespace, { key: "app", value: "relay" })).map(({ uid }) => uid);
    await expect.poll(find).toEqual([pod.uid]);
  });

  test("a deletion asks no budget and gives the grace it names", async () => {
    const pod = await newPod({ graceSeconds: 300 });
    await world().addBudget({ ...pod, name: newName("pdb"), matchLabels: pod.labels, minAvailable: 1 });
    expect(await world().cluster.deletePod(pod, 60)).toEqual({ kind: "deleted" });
    expect(await secondsUntilEnd(world(), pod)).toBeCloseTo(60, -1);
  });

  test("no deletion is by force: less than a second of grace is one", async () => {
    const pod = await newPod();
    expect(await world().cluster.deletePod(pod, 0)).toEqual({ kind: "deleted" });
    expect(await podsOf(world(), pod)).toMatchObject([{ uid: pod.uid, deletionTimestamp: expect.any(Date) }]);
  });

  test("a second deletion shortens the grace, counted from the first", async () => {
    const pod = await newPod({ graceSeconds: 300 });
    await world().cluster.deletePod(pod, 300);
    await world().cluster.deletePod(pod, 120);
    expect(await secondsUntilEnd(world(), pod)).toBeCloseTo(120, -1);
  });

  test("a second deletion never lengthens the grace", async () => {
    const pod = await newPod();
    await world().cluster.deletePod(pod, 60);
    expect(await world().cluster.deletePod(pod, 300)).toEqual({ kind: "deleted" });
    expect(await secondsUntilEnd(world(), pod)).toBeCloseTo(60, -1);
  });

  test("the deletion of a pod that is gone says so", async () => {
    const pod = await newPod();
    await world().removePod(pod);
    expect(await world().cluster.deletePod(pod, 30)).toEqual({ kind: "gone" });
  });

  test("a pod made anew under the same name is not deleted", async () => {
    const pod = await newPod();
    await world().removePod(pod);
    const { uid } = await newPod({ name: pod.name, namespace: pod.namespace, nodeName: pod.nodeName });
    expect(await world().cluster.deletePod(pod, 30)).toEqual({ kind: "gone" });
    expect(await podsOf(world(), pod)).toMatchObject([{ uid, deletionTimestamp: undefined }]);
  });

  test("a finished pod goes at once", async () => {
    const pod = await newPod({ phase: "Succeeded", ready: false });
    expect(await world().cluster.deletePod(pod, 30)).toEqual({ kind: "deleted" });
    expect(await podsOf(world(), pod)).toEqual([]);
  });
}
