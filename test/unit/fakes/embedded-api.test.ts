/** The embedded API server seen as any client sees it: plain requests, shapes of answers, what it records. */
import { expect, onTestFinished, test } from "vitest";
import { ClusterModel } from "../../fakes/kube-api/cluster-model.ts";
import { serveKubeApi } from "../../fakes/kube-api/server.ts";

async function open() {
  const model = new ClusterModel();
  const api = await serveKubeApi(model);
  onTestFinished(() => api.stop());
  return { model, api, ask: (path: string, init: RequestInit = {}) => fetch(`${api.url}${path}`, init) };
}

test("it counts what was asked for, refusals too", async () => {
  const { api, ask } = await open();
  await ask("/api/v1/nodes");
  await ask("/api/v1/nodes/nobody");
  expect(Object.fromEntries(api.counts)).toEqual({ "list nodes": 1, "get nodes": 1 });
});

test("what it doesn't know is not found, in the shape of the API", async () => {
  const { ask } = await open();
  const answer = await ask("/apis/apps/v1/deployments");
  expect(answer.status).toBe(404);
  expect(await answer.json()).toMatchObject({ kind: "Status", status: "Failure", reason: "NotFound", code: 404 });
});

test.each([
  ["a body that isn't JSON is a bad request", "/api/v1/namespaces/default/pods/web/eviction", "{", 400],
  ["an Event without an action is invalid", "/api/v1/namespaces/default/events", '{"metadata":{"name":"x"}}', 422],
])("%s", async (_, path, body, status) => {
  const { model, ask } = await open();
  model.addPod({ name: "web" });
  expect((await ask(path, { method: "POST", body })).status).toBe(status);
  expect(model.events()).toEqual([]);
  expect(model.pods()).toHaveLength(1);
});

test("a selector that it can't read is a bad request, and never everything", async () => {
  const { ask } = await open();
  expect((await ask("/api/v1/nodes?labelSelector=a%20notin%20(b)")).status).toBe(400);
  expect((await ask("/api/v1/nodes?labelSelector=a%3Db,c%3Dd")).status).toBe(400);
  expect((await ask("/api/v1/pods?fieldSelector=status.phase%3DRunning")).status).toBe(400);
});

test("from the cache a limit is nothing, elsewhere it makes pages", async () => {
  const { model, ask } = await open();
  for (const name of ["a", "b", "c"]) model.addNode({ name });
  const names = async (query: string) => {
    const { items, metadata } = await (await ask(`/api/v1/nodes?limit=2${query}`)).json();
    return { names: items.map((item: { metadata: { name: string } }) => item.metadata.name), next: metadata.continue };
  };
  expect(await names("&resourceVersion=0")).toEqual({ names: ["a", "b", "c"], next: undefined });
  const first = await names("");
  expect(first.names).toEqual(["a", "b"]);
  expect(await names(`&continue=${first.next}`)).toEqual({ names: ["c"], next: undefined });
});
