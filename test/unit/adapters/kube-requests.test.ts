/** What the adapter sends, counted at the server: nothing twice, nothing in vain. */
import { expect, test } from "vitest";
import { asking } from "../../../shared/adapters/kube-answers.ts";
import { listPages } from "../../../shared/adapters/kube-pages.ts";
import { ClusterModel } from "../../fakes/kube-api/cluster-model.ts";
import { memoryCluster } from "../../fakes/memory-cluster.ts";

const EVENT = {
  regarding: { kind: "Node", name: "node-1", uid: "uid-1" },
  type: "Normal",
  reason: "NodeCordoned",
  note: "cordoned",
  incident: "spot-interruption/1",
  at: new Date("2026-01-01T12:00:00Z"),
} as const;

function open() {
  const model = new ClusterModel();
  return { model, cluster: memoryCluster(model) };
}

test("an Event that this process has posted costs no second request", async () => {
  const { cluster } = open();
  await cluster.postEvent(EVENT);
  await cluster.postEvent({ ...EVENT, at: new Date("2026-01-01T12:00:03Z") });
  expect(cluster.counts.get("create events")).toBe(1);
});

test("only so many Events are remembered, and the oldest are forgotten first", async () => {
  const { cluster } = open();
  for (let n = 0; n <= 1_000; n++) await cluster.postEvent({ ...EVENT, incident: `incident ${n}` });
  await cluster.postEvent({ ...EVENT, incident: "incident 1000" });
  expect(cluster.counts.get("create events")).toBe(1_001);
  await cluster.postEvent({ ...EVENT, incident: "incident 0" });
  expect(cluster.counts.get("create events")).toBe(1_002);
});

test("no instance ids are no request", async () => {
  const { cluster } = open();
  expect(await cluster.listNodesByInstanceId([])).toEqual([]);
  expect(cluster.counts.size).toBe(0);
});

test("a list is read to its end, page by page", async () => {
  const { model, cluster } = open();
  for (let n = 0; n < 1_100; n++) model.addNode({ name: `node-${n}` });
  expect(await cluster.listNodes()).toHaveLength(1_100);
  expect(cluster.counts.get("list nodes")).toBe(3);
});

test("a list without end is an error that says which list", async () => {
  let pages = 0;
  const endless = async () => {
    pages += 1;
    return { items: [], metadata: { _continue: "more" } };
  };
  const listing = asking("listing nodes", () => listPages(endless, (item) => item));
  const because = "listing nodes: the list has more than 200000 items";
  await expect(listing).rejects.toThrow(
    expect.objectContaining({ name: "ClusterRefused", message: expect.stringContaining(because) }),
  );
  expect(pages).toBe(400);
});
