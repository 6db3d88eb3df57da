/** What the port `Cluster` promises about Events, in any world. */
import { expect, test } from "vitest";
import type { ClusterEvent } from "../../../shared/ports/cluster.ts";
import { newName } from "./names.ts";
import type { World } from "./world.ts";

export function eventsContract(world: () => World): void {
  const anEvent = (given: Partial<ClusterEvent> = {}): ClusterEvent => ({
    regarding: { kind: "Node", name: newName("node"), uid: newName("uid") },
    type: "Normal",
    reason: "NodeCordoned",
    note: "cordoned for spot-interruption/1",
    incident: "spot-interruption/1",
    at: new Date(),
    ...given,
  });
  const eventsOn = async (namespace: string, uid: string) =>
    (await world().listEvents(namespace)).filter((event) => event.uid === uid);

  test("an Event on a node is found in the default namespace", async () => {
    const event = anEvent();
    await world().cluster.postEvent(event);
    const { type, reason, note } = event;
    expect(await eventsOn("default", event.regarding.uid)).toMatchObject([{ type, reason, note }]);
  });

  test("an Event on a pod is found in the pod's namespace", async () => {
    const pod = await world().addPod({ name: newName("pod"), namespace: newName("ns") });
    const { namespace, name, uid } = pod;
    await world().cluster.postEvent(anEvent({ type: "Warning", regarding: { kind: "Pod", namespace, name, uid } }));
    expect(await eventsOn(namespace, uid)).toMatchObject([{ type: "Warning" }]);
  });

  test("the same Event told by two processes is one", async () => {
    const event = anEvent();
    await world().cluster.postEvent(event);
    await world().cluster.postEvent({ ...event, at: new Date(event.at.getTime() + 5_000) });
    await world().otherProcess().postEvent(event);
    expect(await eventsOn("default", event.regarding.uid)).toHaveLength(1);
  });

  test("another incident is another Event", async () => {
    const event = anEvent();
    await world().cluster.postEvent(event);
    await world().cluster.postEvent({ ...event, incident: "spot-interruption/2" });
    expect(await eventsOn("default", event.regarding.uid)).toHaveLength(2);
  });

  test("a note that is too long is cut, not refused", async () => {
    const event = anEvent({ note: `${"x".repeat(1_023)}ä${"x".repeat(1_000)}` });
    await world().cluster.postEvent(event);
    expect(await eventsOn("default", event.regarding.uid)).toHaveLength(1);
  });

  test("an object with the longest name can have Events", async () => {
    const event = anEvent({ regarding: { kind: "Node", name: "n".repeat(253), uid: newName("uid") } });
    await world().cluster.postEvent(event);
    expect(await eventsOn("default", event.regarding.uid)).toHaveLength(1);
  });

  test("an Event in a namespace that is going or gone is let go", async () => {
    const pod = await world().addPod({ name: newName("pod"), namespace: newName("ns") });
    await world().terminateNamespace(pod.namespace);
    for (const namespace of [pod.namespace, newName("never-there")]) {
      await world().cluster.postEvent(anEvent({ regarding: { kind: "Pod", namespace, name: pod.name, uid: pod.uid } }));
    }
    expect(await eventsOn(pod.namespace, pod.uid)).toEqual([]);
  });
}
