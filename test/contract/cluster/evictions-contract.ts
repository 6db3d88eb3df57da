/** What the port `Cluster` promises about evictions and the budgets they ask, in any world. */
import { expect, test } from "vitest";
import type { Pod } from "../../../shared/domain/pod.ts";
import { newName } from "./names.ts";
import { podsOf, secondsUntilEnd } from "./pod-questions.ts";
import type { World } from "./world.ts";

export function evictionsContract(world: () => World): void {
  const newPod = (given: Partial<Pod> = {}) =>
    world().addPod({ name: newName("pod"), namespace: newName("ns"), nodeName: newName("node"), ...given });

  /** A budget over all pods with the pod's labels, of which so many must stay. */
  async function newBudget({ namespace, labels }: Pod, minAvailable: number): Promise<string> {
    const name = newName("pdb");
    await world().addBudget({ namespace, name, matchLabels: labels, minAvailable });
    return name;
  }

  test("an evicted pod ends with its own grace", async () => {
    const pod = await newPod({ graceSeconds: 120 });
    expect(await world().cluster.evictPod(pod, undefined)).toEqual({ kind: "evicted" });
    expect(await secondsUntilEnd(world(), pod)).toBeCloseTo(120, -1);
  });

  test("an eviction can shorten the grace", async () => {
    const pod = await newPod({ graceSeconds: 300 });
    await world().cluster.evictPod(pod, 60);
    expect(await secondsUntilEnd(world(), pod)).toBeCloseTo(60, -1);
  });

  test("an eviction could lengthen the grace, so whoever asks must not", async () => {
    const pod = await newPod({ graceSeconds: 60 });
    await world().cluster.evictPod(pod, 300);
    expect(await secondsUntilEnd(world(), pod)).toBeCloseTo(300, -1);
  });

  test("a budget with room lets a pod go", async () => {
    const pod = await newPod();
    await newPod({ namespace: pod.namespace });
    await newBudget(pod, 1);
    expect(await world().cluster.evictPod(pod, undefined)).toEqual({ kind: "evicted" });
  });

  test("a budget without room blocks, and is named", async () => {
    const pod = await newPod();
    const budget = await newBudget(pod, 1);
    const answer = await world().cluster.evictPod(pod, undefined);
    const because = `The disruption budget ${budget} needs 1 healthy pods and has 1 currently`;
    expect(answer).toEqual({ kind: "blocked", budget, because });
    expect(await podsOf(world(), pod)).toMatchObject([{ deletionTimestamp: undefined }]);
  });

  test("two pods of a budget with room for one: the second is blocked", async () => {
    const one = await newPod();
    const two = await newPod({ namespace: one.namespace });
    await newBudget(one, 1);
    expect(await world().cluster.evictPod(one, undefined)).toEqual({ kind: "evicted" });
    expect(await world().cluster.evictPod(two, undefined)).toMatchObject({ kind: "blocked" });
  });

  test("two budgets on one pod block it without being named, but can be asked for", async () => {
    const pod = await newPod({ labels: { app: "web", tier: "front" } });
    const budgets = [await newBudget(pod, 0), newName("pdb")];
    await world().addBudget({ ...pod, name: budgets[1] ?? "", matchLabels: {}, minAvailable: 0 });
    await world().addBudget({ ...pod, name: newName("pdb-of-others"), matchLabels: { app: "other" }, minAvailable: 0 });
    const answer = await world().cluster.evictPod(pod, undefined);
    expect(answer).toMatchObject({ kind: "blocked", budget: undefined });
    const names = await world().cluster.listBudgetNames(pod.namespace, pod.labels);
    expect(names.toSorted()).toEqual(budgets.toSorted());
  });

  test("a pod that isn't Ready, behind a budget that is below its minimum, is blocked", async () => {
    const pod = await newPod({ ready: false });
    const budget = await newBudget(pod, 1);
    const because = `The disruption budget ${budget} needs 1 healthy pods and has 0 currently`;
    expect(await world().cluster.evictPod(pod, undefined)).toEqual({ kind: "blocked", budget, because });
  });

  test("a pod that isn't Ready, behind a budget that has its minimum, goes", async () => {
    const pod = await newPod({ ready: false });
    await newPod({ namespace: pod.namespace });
    await newBudget(pod, 1);
    expect(await world().cluster.evictPod(pod, undefined)).toEqual({ kind: "evicted" });
  });

  test("a pending pod passes its budget", async () => {
    const pod = await newPod({ phase: "Pending", ready: false });
    await newBudget(pod, 1);
    expect(await world().cluster.evictPod(pod, undefined)).toEqual({ kind: "evicted" });
  });

  test("a terminating pod passes its budget, and its end stays where it is", async () => {
    const pod = await newPod();
    await newBudget(pod, 1);
    await world().cluster.deletePod(pod, 60);
    expect(await world().cluster.evictPod(pod, 300)).toEqual({ kind: "evicted" });
    expect(await secondsUntilEnd(world(), pod)).toBeCloseTo(60, -1);
  });

  test("the eviction of a pod that is gone says so", async () => {
    const pod = await newPod();
    await world().removePod(pod);
    expect(await world().cluster.evictPod(pod, undefined)).toEqual({ kind: "gone" });
  });

  test("a pod made anew under the same name is not evicted", async () => {
    const pod = await newPod();
    await world().removePod(pod);
    const { uid } = await newPod({ name: pod.name, namespace: pod.namespace, nodeName: pod.nodeName });
    expect(await world().cluster.evictPod(pod, undefined)).toEqual({ kind: "gone" });
    expect(await podsOf(world(), pod)).toMatchObject([{ uid, deletionTimestamp: undefined }]);
  });

  test("in a namespace that is being deleted no eviction is taken", async () => {
    const pod = await newPod();
    await world().terminateNamespace(pod.namespace);
    expect(await world().cluster.evictPod(pod, undefined)).toEqual({ kind: "namespace-terminating" });
  });
}
