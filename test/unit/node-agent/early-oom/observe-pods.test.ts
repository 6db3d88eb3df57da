/** What early-oom takes from the API's list of pods, from the first page to the last, and from answers that are none. */
import { describe, expect, it } from "vitest";
import type { ApiAnswer, ApiRequest, ApiServer } from "../../../../node-agent/api-server.ts";
import { listPods } from "../../../../node-agent/early-oom/observe/list-pods.ts";
import { findBytes } from "../../../../node-agent/early-oom/observe/memory-quantity.ts";
import { readPodPage } from "../../../../node-agent/early-oom/observe/read-pods.ts";
import { GIB, MIB } from "./fixtures/memory.ts";

const web = {
  metadata: { uid: "11111111-1111-4111-8111-111111111111", namespace: "shop", name: "web" },
  spec: {
    priority: 1000,
    priorityClassName: "high",
    initContainers: [{ name: "sidecar", resources: { requests: { memory: "64Mi" } } }],
    containers: [
      { name: "app", resources: { requests: { memory: "1Gi", cpu: "1" } } },
      { name: "free", resources: {} },
    ],
  },
  status: {
    initContainerStatuses: [{ name: "sidecar", containerID: "containerd://side" }],
    containerStatuses: [
      { name: "app", containerID: "containerd://app1" },
      { name: "free", containerID: "cri-o://free1" },
    ],
  },
};

const page = (items: readonly unknown[], more?: string) => JSON.stringify({ metadata: { continue: more }, items });

describe("a pod", () => {
  it("is known by priority, class and what each container requested", () => {
    expect(readPodPage(page([web])).pods).toEqual([
      {
        uid: web.metadata.uid,
        namespace: "shop",
        name: "web",
        isStatic: false,
        priority: 1000,
        priorityClassName: "high",
        containers: new Map([
          ["side", { name: "sidecar", memoryRequestBytes: 64 * MIB }],
          ["app1", { name: "app", memoryRequestBytes: GIB }],
          ["free1", { name: "free", memoryRequestBytes: 0 }],
        ]),
        largestRequestBytes: GIB,
      },
    ]);
  });

  it("that mirrors a static one is known by the hash that its cgroup carries", () => {
    const hash = "0123456789abcdef0123456789abcdef";
    const annotations = { "kubernetes.io/config.hash": hash, "kubernetes.io/config.mirror": hash };
    const mirror = { ...web, metadata: { ...web.metadata, annotations } };
    expect(readPodPage(page([mirror])).pods).toMatchObject([{ uid: hash, isStatic: true }]);
  });

  it("that only says it has a static one's hash is none: its owner might want it spared", () => {
    const annotations = { "kubernetes.io/config.hash": "0123456789abcdef0123456789abcdef" };
    const pretending = { ...web, metadata: { ...web.metadata, annotations } };
    expect(readPodPage(page([pretending])).pods).toMatchObject([{ uid: web.metadata.uid, isStatic: false }]);
  });

  it("that requests memory as a whole has that for containers without a request of their own", () => {
    const spec = { ...web.spec, resources: { requests: { memory: "2Gi" } } };
    const [read] = readPodPage(page([{ ...web, spec }])).pods;
    expect(read?.containers.get("free1")?.memoryRequestBytes).toBe(2 * GIB);
    expect(read?.containers.get("app1")?.memoryRequestBytes).toBe(GIB);
  });

  it("that hasn't started has no containers yet, and no priority counts as 0", () => {
    const pending = { metadata: web.metadata, spec: { containers: [{ name: "app" }] }, status: {} };
    expect(readPodPage(page([pending])).pods).toMatchObject([
      { priority: 0, priorityClassName: undefined, containers: new Map(), largestRequestBytes: 0 },
    ]);
  });

  it("that can't be read stays unknown, and the others are read", () => {
    expect(readPodPage(page([{ metadata: {} }, undefined, 7, web])).pods).toHaveLength(1);
  });
});

it.each(["", "{}", '{"items":{}}', "null", "<html>"])("the answer %j is no list of pods", (body) => {
  expect(() => readPodPage(body)).toThrow();
});

it.each([
  ["128974848", 128974848],
  ["129e6", 129e6],
  ["129M", 129e6],
  ["123Mi", 123 * MIB],
  ["0.5Gi", GIB / 2],
  ["1.5G", 1.5e9],
  ["1E", 1e18],
  ["1E3", 1000],
  ["1500m", 2],
  [".5k", 500],
  ["1Zi", undefined],
  ["", undefined],
  ["Mi", undefined],
  ["-1", undefined],
])("the quantity %j is %j bytes", (quantity, bytes) => {
  expect(findBytes(quantity)).toBe(bytes);
});

/** An API server that gives these answers in turn, the last one again and again. */
class ScriptedApi implements ApiServer {
  readonly asked: ApiRequest[] = [];
  readonly #answers: readonly ApiAnswer[];

  constructor(...answers: readonly ApiAnswer[]) {
    this.#answers = answers;
  }

  call(asked: ApiRequest): Promise<ApiAnswer> {
    const answer = this.#answers[Math.min(this.asked.length, this.#answers.length - 1)];
    this.asked.push(asked);
    return Promise.resolve(answer ?? { kind: "unanswered", because: "no answer was scripted" });
  }

  close(): void {}
}

const ok = (body: string): ApiAnswer => ({ kind: "answered", status: 200, body });

describe("the list of this node's pods", () => {
  it("is read to its end, page by page", async () => {
    const other = { ...web, metadata: { ...web.metadata, uid: "22222222-1111-4111-8111-111111111111" } };
    const api = new ScriptedApi(ok(page([web], "a+b")), ok(page([other])));
    const answer = await listPods(api, "node 1");
    expect(answer).toMatchObject({ kind: "listed" });
    expect(answer.kind === "listed" && [...answer.facts.keys()]).toEqual([web.metadata.uid, other.metadata.uid]);
    expect(api.asked.map(({ path }) => path)).toEqual([
      "/api/v1/pods?fieldSelector=spec.nodeName%3Dnode+1&limit=25",
      "/api/v1/pods?fieldSelector=spec.nodeName%3Dnode+1&limit=25&continue=a%2Bb",
    ]);
  });

  it.each([
    { why: "the API is away", answer: { kind: "unanswered", because: "timed out" } as const, because: "timed out" },
    { why: "the API refuses", answer: { kind: "answered", status: 403, body: "{}" } as const, because: "403" },
    { why: "the answer is no list", answer: ok("<html>"), because: "JSON" },
    { why: "pages never end", answer: ok(page([web], "more")), because: "more than 1000 pods" },
  ])("is unknown as a whole where $why", async ({ answer, because }) => {
    const api = new ScriptedApi(answer);
    expect(await listPods(api, "node-1")).toEqual({ kind: "unknown", because: expect.stringContaining(because) });
    expect(api.asked.length).toBeLessThanOrEqual(40);
  });

  it("is unknown where a later page fails, rather than short", async () => {
    const api = new ScriptedApi(ok(page([web], "more")), { kind: "answered", status: 410, body: "" });
    expect(await listPods(api, "node-1")).toMatchObject({ kind: "unknown" });
  });
});
