/** The relay as a caller meets it: who gets which answer, and what of a request reaches the API server. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { relayAudience } from "../../../shared/domain/identity.ts";
import { type Asked, ask, open, sendRaw } from "../../support/relay/client.ts";
import { answerCaller, answerJson, answerStsError } from "../../support/relay/fake-server.ts";
import { DRAINER, type RelayRig, SECRET, SERVICE_ACCOUNT_TOKEN, startRelayRig } from "../../support/relay/relay-rig.ts";
import { ACCOUNT, CLUSTER, REGION, signToken, tokenWith } from "../../support/relay/tokens.ts";

let rig: RelayRig;
let token: string;
beforeAll(async () => {
  rig = await startRelayRig();
});
let signed = 0;
beforeEach(() => {
  // A token of its own for each test: verdicts are cached.
  signed += 1;
  token = tokenWith(new Date(), { "X-Amz-Signature": signed.toString(16).padStart(64, "0") });
  rig.sts.play(answerCaller(DRAINER));
  rig.apiServer.play(answerJson(200, { kind: "NodeList", items: [] }));
  rig.sts.seen.length = 0;
  rig.apiServer.seen.length = 0;
  rig.logLines.length = 0;
});
afterAll(() => rig[Symbol.asyncDispose]());

function relay() {
  return { port: rig.port, ca: rig.authority.certPem };
}
async function statusOf(asked: Asked): Promise<number> {
  return (await ask(relay(), asked)).status;
}

describe("who is calling", () => {
  test("a function with its token is served", async () => {
    const real = await signToken({ audience: relayAudience(CLUSTER, REGION) });
    const answer = await ask(relay(), { token: real });
    expect(answer).toMatchObject({ status: 200, body: '{"kind":"NodeList","items":[]}' });
  });
  test.each([
    ["without a token", {}],
    ["with basic authentication", { authorization: "Basic dXNlcjp3b3Jk" }],
    ["with an empty token", { authorization: "Bearer " }],
    ["with two tokens", { authorization: "Bearer a b" }],
    ["with a token of another kind", { authorization: "Bearer eyJhbGciOi.J9.x" }],
    ["with a client certificate's user in a header", { "x-remote-user": "system:admin" }],
  ])("a caller %s gets 401, and STS is not asked", async (_name, headers) => {
    expect(await statusOf({ headers })).toBe(401);
    expect(rig.sts.seen).toHaveLength(0);
    expect(rig.apiServer.seen).toHaveLength(0);
  });
  test("another cluster's token gets 401: STS checks the signature over our audience, whatever was signed", async () => {
    rig.sts.play((request, response) => {
      const ours = request.headers["x-k8s-aws-id"] === relayAudience("other", REGION);
      return (ours ? answerCaller(DRAINER) : answerStsError(403, "SignatureDoesNotMatch"))(request, response);
    });
    const others = await signToken({ audience: relayAudience("other", REGION) });
    expect(await statusOf({ token: others, headers: { "x-k8s-aws-id": relayAudience("other", REGION) } })).toBe(401);
    expect(rig.apiServer.seen).toHaveLength(0);
  });
  test.each([
    ["400, a bad token", answerStsError(400, "InvalidClientTokenId"), 401],
    ["403", answerStsError(403, "SignatureDoesNotMatch"), 401],
    ["400, throttled", answerStsError(400, "Throttling"), 503],
    ["500", answerStsError(500, "InternalFailure"), 503],
    ["a role of the same name in a foreign account", answerCaller(DRAINER.replace(ACCOUNT, "210987654321")), 401],
    ["a role that isn't in the map", answerCaller(DRAINER.replace("drain-urgent", "replay")), 401],
    ["the account's root", answerCaller(`arn:aws:iam::${ACCOUNT}:root`), 401],
  ])("when STS says %s, the caller gets %s", async (_name, play, status) => {
    rig.sts.play(play);
    const answer = await ask(relay(), { token });
    expect(answer.status).toBe(status);
    expect(JSON.parse(answer.body)).toMatchObject({ kind: "Status", status: "Failure", code: status });
    expect(rig.apiServer.seen).toHaveLength(0);
  });
  test("whoever should come back later is told when", async () => {
    rig.sts.play(answerStsError(400, "Throttling"));
    expect((await ask(relay(), { token })).headers["retry-after"]).toBe("1");
  });
});

describe("what reaches the API server", () => {
  test("is the request as it was, under the function's own user and with the relay's own token", async () => {
    const path = "/api/v1/namespaces/default/pods/a/eviction?dryRun=All&x=%2F%2e";
    await ask(relay(), {
      token,
      method: "POST",
      path,
      body: '{"kind":"Eviction"}',
      headers: { "content-type": "application/json" },
    });
    expect(rig.apiServer.seen).toHaveLength(1);
    const [seen] = rig.apiServer.seen;
    expect(seen).toMatchObject({ method: "POST", target: path, body: '{"kind":"Eviction"}' });
    expect(seen?.headers).toMatchObject({
      authorization: `Bearer ${SERVICE_ACCOUNT_TOKEN}`,
      "impersonate-user": "nodekeeper:drain-urgent",
      "content-type": "application/json",
    });
  });
  test("is nothing of what a caller says about who it is or where it comes from", async () => {
    const headers = {
      "Impersonate-User": "system:admin",
      "Impersonate-Group": "system:masters",
      "Impersonate-Uid": "1",
      "impersonate-extra-scopes": "all",
      "X-Remote-User": "system:admin",
      "X-Remote-Group": "system:masters",
      "X-Forwarded-For": "10.0.0.1",
      "X-Forwarded-Host": "evil.example",
      Forwarded: "for=10.0.0.1",
      Via: "1.1 evil",
      Cookie: "a=b",
      "Proxy-Authorization": "Basic dXNlcjp3b3Jk",
      "X-Amz-Date": "20261130T100000Z",
      TE: "trailers",
      Connection: "keep-alive, impersonate-user",
      "X-Anything": "else",
      Accept: "application/json",
    };
    expect(await statusOf({ token, headers })).toBe(200);
    const names = Object.keys(rig.apiServer.seen[0]?.headers ?? {}).toSorted();
    expect(names).toEqual(["accept", "authorization", "connection", "host", "impersonate-user"]);
    expect(rig.apiServer.seen[0]?.headers["impersonate-user"]).toBe("nodekeeper:drain-urgent");
    expect(rig.apiServer.seen[0]?.headers.connection).toBe("keep-alive");
  });
  test("is one impersonation header, also if the caller sends several in raw", async () => {
    const lines = ["GET /api/v1/nodes HTTP/1.1", "Host: relay", `Authorization: Bearer ${token}`];
    const extra = ["Impersonate-User: a", "IMPERSONATE-USER: b", "Impersonate_User: c", "Connection: close", "", ""];
    expect(await sendRaw(relay(), [...lines, ...extra].join("\r\n"))).toMatch(/^HTTP\/1.1 200/);
    const raw = rig.apiServer.seen[0]?.rawHeaders ?? [];
    expect(raw.filter((text) => /impersonate/i.test(text))).toEqual(["impersonate-user"]);
  });
});

describe("what comes back", () => {
  test("is the API server's answer with its own status, headers and body", async () => {
    rig.apiServer.play((_request, response) => {
      response
        .writeHead(429, { "retry-after": "10", "x-kubernetes-pf-flowschema-uid": "f", "content-type": "a/b" })
        .end("later");
    });
    const answer = await ask(relay(), { token });
    expect(answer).toMatchObject({ status: 429, body: "later" });
    expect(answer.headers).toMatchObject({
      "retry-after": "10",
      "x-kubernetes-pf-flowschema-uid": "f",
      "content-type": "a/b",
    });
  });
  test("is 503, not 401, when it is the relay's own token that was refused", async () => {
    rig.apiServer.play(answerJson(401, { kind: "Status", code: 401 }));
    expect(await statusOf({ token })).toBe(503);
  });
  test("is 502 when the API server hangs up, also on a request with a body", async () => {
    rig.apiServer.play((_request, response) => void response.destroy());
    expect(await statusOf({ token })).toBe(502);
    const path = "/api/v1/namespaces/default/events";
    expect(await statusOf({ token, method: "POST", path, body: "{}" })).toBe(502);
  });
});

describe("requests that are never passed on", () => {
  test.each([
    ["GET", "//api/v1/nodes"],
    ["GET", "/api/v1/nodes/../secrets"],
    ["GET", "/api/v1/nodes%2fa"],
    ["GET", "https://evil.example/api/v1/nodes"],
    ["GET", "/api/v1/nodes?watch=true"],
    ["GET", "/api/v1/secrets"],
    ["PURGE", "/api/v1/nodes"],
    ["OPTIONS", "*"],
    ["DELETE", "/api/v1/nodes/a"],
  ])("%s %s is 403, as it stood on the request line", async (method, target) => {
    const lines = [
      `${method} ${target} HTTP/1.1`,
      "Host: relay",
      `Authorization: Bearer ${token}`,
      "Connection: close",
    ];
    expect(await sendRaw(relay(), `${lines.join("\r\n")}\r\n\r\n`)).toMatch(/^HTTP\/1.1 403/);
    expect(rig.apiServer.seen).toHaveLength(0);
  });
  test.each(["websocket", "SPDY/3.1", "h2c"])("an upgrade to %s is 403", async (protocol) => {
    expect(await statusOf({ token, headers: { connection: "upgrade", upgrade: protocol } })).toBe(403);
    expect(rig.apiServer.seen).toHaveLength(0);
  });
  test.each(["FOO /api/v1/nodes", "CONNECT evil.example:443", "GET /api/v1/no des"])(
    "'%s' ends the connection",
    async (line) => {
      const head = [`${line} HTTP/1.1`, "Host: relay", `Authorization: Bearer ${token}`, "Connection: close"];
      expect(await sendRaw(relay(), `${head.join("\r\n")}\r\n\r\n`)).not.toMatch(/^HTTP\/1.1 2/);
      expect(rig.apiServer.seen).toHaveLength(0);
    },
  );
  test("a body over the limit is 413", async () => {
    const path = "/api/v1/namespaces/default/events";
    expect(await statusOf({ token, method: "POST", path, body: "x".repeat(1025) })).toBe(413);
    expect(rig.apiServer.seen).toHaveLength(0);
    expect(await statusOf({ token, method: "POST", path, body: "x".repeat(1024) })).toBe(200);
  });
  test("a GET with a body is 400", async () => {
    expect(await statusOf({ token, body: "x" })).toBe(400);
    expect(rig.apiServer.seen).toHaveLength(0);
  });
  test.each(["POST /api/v1/namespaces/default/events", "DELETE /api/v1/namespaces/default/pods/a"])(
    "a chunked body could hide a second request, so %s without a length is 411",
    async (line) => {
      const head = [`${line} HTTP/1.1`, "Host: relay", `Authorization: Bearer ${token}`, "Transfer-Encoding: chunked"];
      const hidden = "GET /api/v1/secrets HTTP/1.1\r\nHost: a\r\n\r\n";
      const body = `${hidden.length.toString(16)}\r\n${hidden}\r\n0\r\n\r\n`;
      expect(await sendRaw(relay(), `${head.join("\r\n")}\r\n\r\n${body}`)).toMatch(/^HTTP\/1.1 411/);
      expect(rig.apiServer.seen).toHaveLength(0);
    },
  );
  test("a request with both a length and chunks is 400", async () => {
    const head = ["POST /api/v1/namespaces/default/events HTTP/1.1", "Host: relay", `Authorization: Bearer ${token}`];
    const both = ["Content-Length: 5", "Transfer-Encoding: chunked", "", "0", "", ""];
    expect(await sendRaw(relay(), [...head, ...both].join("\r\n"))).toMatch(/^HTTP\/1.1 400/);
    expect(rig.apiServer.seen).toHaveLength(0);
  });
  test("headers over 16 KB are 431", async () => {
    expect(await statusOf({ token, headers: { "x-long": "x".repeat(17 * 1024) } })).toBe(431);
  });
});

test("neither tokens nor signed URLs are in the log or in an answer", async () => {
  rig.sts.play(answerStsError(403, "SignatureDoesNotMatch"));
  const refused = await ask(relay(), { token });
  rig.sts.play(answerCaller(DRAINER));
  await ask(relay(), { token: tokenWith(new Date()), path: `/api/v1/nodes?labelSelector=${token}` });
  await ask(relay(), { token: tokenWith(new Date()), path: `/api/v1/secrets?x=${token}` });
  await expect.poll(() => rig.logLines.length).toBe(3);
  expect(rig.logLines.join("") + refused.body).not.toMatch(SECRET);
});

test("requests and refusals are counted with few labels", async () => {
  await ask(relay(), { token });
  await ask(relay(), { token, path: "/api/v1/secrets" });
  await ask(relay(), {});
  const text = await rig.metrics.registry.metrics();
  expect(text).toMatch(
    /nodekeeper_relay_requests_total\{user="nodekeeper:drain-urgent",verb="list",resource="nodes",code="200"\} \d/,
  );
  expect(text).toMatch(/nodekeeper_relay_refusals_total\{reason="not-granted"\} \d/);
  expect(text).toMatch(/nodekeeper_relay_refusals_total\{reason="no-token"\} \d/);
  expect(text).toMatch(/nodekeeper_relay_requests_in_flight\{user="nodekeeper:drain-urgent"\} 0/);
  expect(text).not.toMatch(SECRET);
});

test("a connection that was idle for a while serves the next request: it is kept for 75 seconds", async () => {
  const response = await open(relay(), { token, headers: { connection: "keep-alive" } });
  response.resume();
  expect(response.headers["keep-alive"]).toBe("timeout=75");
});
