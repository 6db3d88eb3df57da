/** Streams, aborts and limits of requests that are passed on. */
import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import * as https from "node:https";
import { promisify } from "node:util";
import { afterEach, describe, expect, test } from "vitest";
import { apiServerAt } from "../../../relay/api-server.ts";
import type { RelayParts } from "../../../relay/server.ts";
import { createAuthority } from "../../rig/pki.ts";
import { ask, open } from "../../support/relay/client.ts";
import { answerCaller, answerJson } from "../../support/relay/fake-server.ts";
import { DRAINER, type RelayRig, startRelayRig, WATCHER } from "../../support/relay/relay-rig.ts";
import { tokenWith } from "../../support/relay/tokens.ts";

const WATCH = "/api/v1/nodes?watch=true";
let rig: RelayRig;
afterEach(() => rig[Symbol.asyncDispose]());

async function setup(limits: Partial<RelayParts["limits"]> = {}, arn?: string) {
  rig = await startRelayRig({ limits });
  if (arn !== undefined) rig.sts.play(answerCaller(arn));
  return { relay: { port: rig.port, ca: rig.authority.certPem }, token: tokenWith(new Date()) };
}
/** Makes the API server keep its answers open and hands them out one by one. */
function held(): () => Promise<ServerResponse> {
  const waiting: ServerResponse[] = [];
  rig.apiServer.play((_request, response) => void waiting.push(response));
  return async () => {
    await expect.poll(() => waiting.length, { timeout: 5_000 }).toBeGreaterThan(0);
    const [response] = waiting.splice(0, 1);
    if (response === undefined) throw new Error("nothing was asked");
    return response;
  };
}
function portOf(server: https.Server): number {
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}
async function nextChunk(response: IncomingMessage): Promise<string> {
  const [chunk] = await once(response, "data");
  return String(chunk);
}

describe("a watch", () => {
  test("stands before there is any event, and gets each event at once", async () => {
    const { relay, token } = await setup({}, WATCHER);
    const next = held();
    const opening = open(relay, { token, path: WATCH });
    const upstream = await next();
    upstream.writeHead(200, { "content-type": "application/json" });
    upstream.flushHeaders();
    const response = await opening;
    expect(response.statusCode).toBe(200);

    for (const event of ['{"type":"ADDED"}\n', '{"type":"MODIFIED"}\n', '{"type":"DELETED"}\n']) {
      const chunk = nextChunk(response);
      upstream.write(event);
      expect(await chunk).toBe(event);
    }
    response.destroy();
  });
  test("ends for the caller when the API server ends it", async () => {
    const { relay, token } = await setup({}, WATCHER);
    const next = held();
    const opening = open(relay, { token, path: WATCH });
    const upstream = await next();
    upstream.write("{}\n");
    const response = await opening;
    upstream.end();
    response.resume();
    await once(response, "end");
    expect(response.complete).toBe(true);
  });
  test("that breaks off in the API server breaks off for the caller, it doesn't end well", async () => {
    const { relay, token } = await setup({}, WATCHER);
    const next = held();
    const opening = open(relay, { token, path: WATCH });
    const upstream = await next();
    upstream.write("{}\n");
    const response = await opening;
    upstream.destroy();
    response.resume();
    await expect(once(response, "end")).rejects.toThrow();
  });
  test("is cut when its time is over", async () => {
    const { relay, token } = await setup({ watchSeconds: 0.2 }, WATCHER);
    const next = held();
    const opening = open(relay, { token, path: WATCH });
    (await next()).write("{}\n");
    const response = await opening;
    response.resume();
    await expect(once(response, "end")).rejects.toThrow();
  });
});

describe("a caller that goes away", () => {
  test("in the middle of a watch ends the watch in the API server", async () => {
    const { relay, token } = await setup({}, WATCHER);
    const next = held();
    const opening = open(relay, { token, path: WATCH });
    const upstream = await next();
    upstream.write("{}\n");
    const closed = once(upstream, "close");
    (await opening).destroy();
    await closed;
    expect(upstream.writableFinished).toBe(false);
  });
  test("while STS is asked is not spoken for any more", async () => {
    const { relay, token } = await setup();
    const asked = Promise.withResolvers<void>();
    const release = Promise.withResolvers<void>();
    rig.sts.play(async (request, response) => {
      asked.resolve();
      await release.promise;
      await answerCaller(DRAINER)(request, response);
    });
    const going = new AbortController();
    const asking = expect(ask(relay, { token, signal: going.signal })).rejects.toThrow();
    await asked.promise;
    const connections = () => promisify(rig.server.getConnections.bind(rig.server))();
    going.abort();
    await asking;
    await expect.poll(connections).toBe(0);
    release.resolve();
    await expect.poll(() => rig.metrics.registry.metrics()).toMatch(/code="caller-gone"\} 1/);
    expect(rig.apiServer.seen).toHaveLength(0);
  });
  test("before there is an answer ends the request in the API server, and is counted so", async () => {
    const { relay, token } = await setup();
    const next = held();
    const going = new AbortController();
    const asking = expect(ask(relay, { token, signal: going.signal })).rejects.toThrow();
    const closed = once(await next(), "close");
    going.abort();
    await closed;
    await asking;
    await expect.poll(() => rig.metrics.registry.metrics()).toMatch(/code="caller-gone"\} 1/);
    expect(await rig.metrics.registry.metrics()).toMatch(/requests_in_flight\{user="nodekeeper:drain-urgent"\} 0/);
  });
});

describe("limits", () => {
  test("an API server that says nothing within the time limit is 504", async () => {
    const { relay, token } = await setup({ requestSeconds: 0.2 });
    const next = held();
    const asking = ask(relay, { token });
    const closed = once(await next(), "close");
    expect((await asking).status).toBe(504);
    await closed;
  });
  test("one user has a bounded number of requests under way; the next is 429, and others are served", async () => {
    const { relay, token } = await setup({ requestsPerUser: 2 });
    const next = held();
    const asking = [ask(relay, { token }), ask(relay, { token })];
    const answers = [await next(), await next()];
    expect((await ask(relay, { token })).status).toBe(429);

    rig.sts.play(answerCaller(WATCHER));
    const other = ask(relay, { token: tokenWith(new Date(), { "X-Amz-Signature": "1".repeat(64) }) });
    (await next()).end("{}");
    expect((await other).status).toBe(200);

    for (const answer of answers) answer.end("{}");
    expect((await Promise.all(asking)).map(({ status }) => status)).toEqual([200, 200]);
    rig.apiServer.play(answerJson(200, {}));
    expect((await ask(relay, { token })).status).toBe(200);
  });
  test("one address has a bounded number of connections; the next is closed unheard, a place that is left is free", async () => {
    const { relay, token } = await setup({ connectionsPerSource: 1 });
    const next = held();
    const opening = open(relay, { token });
    (await next()).write("{");
    const first = await opening;
    await expect(ask(relay, { token })).rejects.toThrow();
    first.destroy();
    rig.apiServer.play(answerJson(200, {}));
    await expect
      .poll(() =>
        ask(relay, { token }).then(
          ({ status }) => status,
          () => 0,
        ),
      )
      .toBe(200);
  });
});

test.each([
  ["and is passed on", 429, 429],
  ["and says that our own token is bad", 401, 503],
])(
  "an answer that comes before the body is complete %s leaves no connection to the API server behind",
  async (_name, status, expected) => {
    const authority = await createAuthority();
    const { certPem, keyPem } = await authority.issue({ commonName: "API server", hosts: ["127.0.0.1"] });
    await using early = https.createServer({ cert: certPem, key: keyPem }, (_request, response) => {
      response.writeHead(status, { "content-length": 2 }).end("{}");
    });
    await once(early.listen(0, "127.0.0.1"), "listening");
    const kubeApi = { url: `https://127.0.0.1:${portOf(early)}`, ca: authority.certPem, token: "t" };
    rig = await startRelayRig({ kubeApi });

    const caller = https.request({
      ...{ host: "127.0.0.1", port: rig.port, ca: rig.authority.certPem, agent: false },
      ...{ method: "POST", path: "/api/v1/namespaces/default/events" },
      headers: { authorization: `Bearer ${tokenWith(new Date())}`, "content-length": 1000 },
    });
    caller.on("error", () => {});
    caller.write("half of it");
    const [response] = await once(caller, "response");
    expect(response.statusCode).toBe(expected);
    response.resume();
    await expect.poll(() => promisify(early.getConnections.bind(early))(), { timeout: 3_000 }).toBe(0);
    caller.destroy();
  },
);

test("several large answers at once come through whole", async () => {
  const { relay, token } = await setup();
  const big = "x".repeat(2 * 1024 * 1024);
  rig.apiServer.play((_request, response) => void response.end(big));
  const bodies = await Promise.all(Array.from({ length: 4 }, () => ask(relay, { token })));
  expect(bodies.every(({ body }) => body === big)).toBe(true);
});

test("an API server with a certificate of another authority is not spoken to, until our CA file has that authority", async () => {
  await setup();
  const apiServer = apiServerAt(`https://127.0.0.1:${rig.apiServer.port}`);
  apiServer.useToken("t");
  apiServer.useCa((await createAuthority()).certPem);
  expect(await apiServer.isReachable()).toBe(false);
  expect(rig.apiServer.seen).toHaveLength(0);
  apiServer.useCa(rig.authority.certPem);
  await expect.poll(() => apiServer.isReachable(), { timeout: 5_000, interval: 500 }).toBe(true);
});
