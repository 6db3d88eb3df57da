/** The bundled relay as a process: its second port, files rotated under it, and how it goes. */
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Authority, createAuthority } from "../../rig/pki.ts";
import { ask, open, sendRaw } from "../../support/relay/client.ts";
import { answerCaller, answerJson, type FakeServer, startFakeServer } from "../../support/relay/fake-server.ts";
import { type RelayProgram, startRelayProgram } from "../../support/relay/relay-program.ts";
import { DRAINER } from "../../support/relay/relay-rig.ts";
import { ACCOUNT, CLUSTER, STS_HOST, tokenWith } from "../../support/relay/tokens.ts";

const IDENTITIES = { [`aws/${ACCOUNT}/nodekeeper-${CLUSTER}-drain-urgent`]: "nodekeeper:drain-urgent" };
const POLL = { timeout: 10_000, interval: 200 };

let authority: Authority;
let sts: FakeServer;
let apiServer: FakeServer;
let folder: string;
let relay: RelayProgram;

function start(env: Readonly<Record<string, string>> = {}): Promise<RelayProgram> {
  return startRelayProgram({
    kubeApi: { url: `https://127.0.0.1:${apiServer.port}`, caPem: authority.certPem, token: "first-token" },
    sts: { address: `127.0.0.1:${sts.port}`, caFile: join(folder, "sts-ca.pem") },
    identities: IDENTITIES,
    env,
  });
}
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "nodekeeper-relay-test-"));
  authority = await createAuthority();
  await writeFile(join(folder, "sts-ca.pem"), authority.certPem);
  sts = await startFakeServer(authority, [STS_HOST], answerCaller(DRAINER));
  apiServer = await startFakeServer(authority, ["127.0.0.1"], answerJson(200, {}));
  relay = await start();
});
beforeEach(() => apiServer.play(answerJson(200, {})));
afterAll(async () => {
  await relay?.[Symbol.asyncDispose]();
  await apiServer[Symbol.asyncDispose]();
  await sts[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

function get(path: string): Promise<Response> {
  return fetch(relay.opsUrl + path, { signal: AbortSignal.timeout(5_000) });
}
const fresh = () => ({ token: tokenWith(new Date()) });
const statusOf = (asked = fresh()) => ask(relay, asked).then(({ status }) => status);
const refused = async (file: string) =>
  (await relay.log()).some((line) => line.message === "file refused" && line.file === file);

test("it serves a known caller", async () => {
  expect(await statusOf()).toBe(200);
});

test("a caller that doesn't end its headers is cut after 5 seconds", async () => {
  const began = Date.now();
  expect(await sendRaw(relay, "GET /api/v1/nodes HTTP/1.1\r\nHost: re")).toMatch(/^HTTP\/1.1 408/);
  expect(Date.now() - began).toBeGreaterThan(4_000);
  expect(Date.now() - began).toBeLessThan(8_000);
});

describe("its second port", () => {
  test("says that it lives, which version it is, and nothing else", async () => {
    expect((await get("/healthz")).status).toBe(200);
    expect(await (await get("/version")).json()).toEqual({ version: "dev", node: process.version });
    expect((await get("/api/v1/nodes")).status).toBe(404);
    expect((await get("/readyz?verbose")).status).toBe(404);
  });
  test("says that it is ready while the API server is, and not when that isn't", async () => {
    expect((await get("/readyz")).status).toBe(200);
    apiServer.play(answerJson(500, {}));
    await expect.poll(() => get("/readyz").then(({ status }) => status), POLL).toBe(503);
    expect((await get("/healthz")).status).toBe(200);
    apiServer.play(answerJson(200, {}));
    await expect.poll(() => get("/readyz").then(({ status }) => status), POLL).toBe(200);
  });
  test("counts for Prometheus", async () => {
    await statusOf();
    const text = await (await get("/metrics")).text();
    for (const name of [
      "requests_total",
      "refusals_total",
      "sts_calls_total",
      "token_cache_hits_total",
      "request_duration_seconds_count",
      "requests_in_flight",
    ]) {
      expect(text).toContain(`nodekeeper_relay_${name}`);
    }
  });
});

describe("what is rotated under it comes into use", () => {
  test("its service account's token", async () => {
    await relay.write("token", "second-token\n");
    await expect
      .poll(async () => {
        await statusOf();
        return apiServer.seen.at(-1)?.headers.authorization;
      }, POLL)
      .toBe("Bearer second-token");
  });
  test("its certificate and key", async () => {
    const next = await createAuthority();
    const { certPem, keyPem } = await next.issue({ commonName: "relay", hosts: ["127.0.0.1"] });
    await relay.write("tls.crt", certPem);
    // Half a rotation: the old pair stays in use.
    await expect.poll(() => refused("certificate"), POLL).toBe(true);
    expect(await statusOf()).toBe(200);
    await relay.write("tls.key", keyPem);
    const renewed = { port: relay.port, ca: next.certPem };
    await expect
      .poll(
        () =>
          ask(renewed, fresh()).then(
            ({ status }) => status,
            () => 0,
          ),
        POLL,
      )
      .toBe(200);
    relay = { ...relay, ca: next.certPem };
  });
  test("who is who, for tokens that are known already too", async () => {
    const asked = fresh();
    expect(await statusOf(asked)).toBe(200);
    await relay.write("identities.json", "{}");
    await expect.poll(() => statusOf(asked), POLL).toBe(401);
    await relay.write("identities.json", JSON.stringify(IDENTITIES));
    await expect.poll(() => statusOf(asked), POLL).toBe(200);
  });
  test("but not a map of identities that isn't understood: the last good one stays", async () => {
    await relay.write("identities.json", JSON.stringify({ ...IDENTITIES, nonsense: "system:admin" }));
    await expect.poll(() => refused("identities"), POLL).toBe(true);
    expect(await statusOf()).toBe(200);
  });
});

test("it says which settings are wrong, all at once, and ends", async () => {
  const reason = await start({ PORT: "none", CLUSTER_NAME: "" }).then(
    () => "it started",
    (error: unknown) => String(error),
  );
  expect(reason).toMatch(/CLUSTER_NAME/);
  expect(reason).toMatch(/PORT/);
});

test("on SIGTERM it is not ready, still serves, lets what runs end, and ends by itself", async () => {
  const leaving = await start();
  const release = Promise.withResolvers<void>();
  apiServer.play(async (request, response) => {
    if (request.headers["user-agent"] === "slow") await release.promise;
    response.end("{}");
  });
  await expect.poll(() => fetch(`${leaving.opsUrl}/readyz`).then(({ status }) => status), POLL).toBe(200);
  const running = ask(leaving, { ...fresh(), headers: { "user-agent": "slow" } });
  await expect.poll(() => apiServer.seen.some(({ headers }) => headers["user-agent"] === "slow"), POLL).toBe(true);

  process.kill(leaving.program.pid, "SIGTERM");
  await expect
    .poll(() => fetch(`${leaving.opsUrl}/readyz`).then(({ status }) => status), { ...POLL, interval: 20 })
    .toBe(503);
  const late = await open(leaving, { ...fresh(), headers: { connection: "keep-alive" } });
  expect([late.statusCode, late.headers.connection]).toEqual([200, "close"]);
  late.resume();
  await once(late, "end");

  await expect
    .poll(
      () =>
        ask(leaving, fresh()).then(
          () => "served",
          () => "refused",
        ),
      POLL,
    )
    .toBe("refused");
  expect(leaving.program.isRunning()).toBe(true);
  release.resolve();
  expect((await running).status).toBe(200);
  await expect.poll(() => leaving.program.isRunning(), POLL).toBe(false);
  expect((await leaving.log()).at(-1)).toMatchObject({ message: "relay ended" });
  await leaving[Symbol.asyncDispose]();
});
