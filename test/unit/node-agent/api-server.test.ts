/** The way to the API server, over real TLS on loopback: whatever becomes of a request, there is an answer in time. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer, type Server } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type ApiServer, connectApiServer } from "../../../node-agent/api-server.ts";
import { createAuthority } from "../../rig/pki.ts";

const TIMEOUT_MS = 500;

let folder: string;
let server: Server;
let api: ApiServer;
let answer: (request: IncomingMessage, response: ServerResponse) => void;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "nodekeeper-api-"));
  writeFileSync(join(folder, "token"), "first\n");
  answer = (_request, response) => response.end("{}");
  await serveWithNewAuthority();
});
afterEach(() => {
  api.close();
  server.closeAllConnections();
  server.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Its certificate is in the folder, as the kubelet keeps it. */
async function serveWithNewAuthority(): Promise<void> {
  const authority = await createAuthority();
  const { certPem, keyPem } = await authority.issue({ commonName: "api", hosts: ["127.0.0.1"] });
  writeFileSync(join(folder, "ca.crt"), authority.certPem);
  server = createServer({ cert: certPem, key: keyPem }, (request, response) => answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" ? address?.port : undefined;
  api = connectApiServer({ url: `https://127.0.0.1:${port}`, credentials: folder, maxAnswerBytes: 1_000 });
}

async function timed() {
  const startedAtMs = performance.now();
  const came = await api.call({ method: "GET", path: "/", timeoutMs: TIMEOUT_MS });
  return { came, tookMs: performance.now() - startedAtMs };
}

test.each<[string, typeof answer]>([
  ["is silent", () => {}],
  ["sends a head and no body", (_request, response) => response.writeHead(200).flushHeaders()],
  [
    "sends a body drop by drop",
    (_request, response) => {
      const drops = setInterval(() => response.write(" "), 20);
      response.on("close", () => clearInterval(drops));
    },
  ],
])("a server that %s has not answered when the time is over", async (_what, silence) => {
  answer = silence;
  const { came, tookMs } = await timed();
  expect(came).toMatchObject({ kind: "unanswered" });
  expect(tookMs).toBeLessThan(TIMEOUT_MS + 2_000);
  answer = (_request, response) => response.end("{}");
  expect((await timed()).came).toEqual({ kind: "answered", status: 200, body: "{}" });
});

test("half an answer is none", async () => {
  answer = (_request, response) => {
    response.writeHead(200, { "content-length": "100" }).write("half");
    setTimeout(() => response.destroy(), 20);
  };
  expect((await timed()).came).toMatchObject({ kind: "unanswered" });
});

test("an answer that is too large is none", async () => {
  answer = (_request, response) => response.end("x".repeat(1_001));
  expect((await timed()).came).toEqual({ kind: "unanswered", because: "the answer is larger than 1000 bytes" });
});

test("a token that was renewed is used from the next request on", async () => {
  const seen: unknown[] = [];
  answer = ({ headers }, response) => {
    seen.push(headers.authorization);
    response.end("{}");
  };
  await timed();
  rmSync(join(folder, "token"));
  expect((await timed()).came).toMatchObject({ kind: "unanswered", because: expect.stringContaining("ENOENT") });
  writeFileSync(join(folder, "token"), "second\n");
  await timed();
  expect(seen).toEqual(["Bearer first", "Bearer second"]);
});

test("a certificate that the cluster's authority didn't issue is no API server", async () => {
  writeFileSync(join(folder, "ca.crt"), (await createAuthority("another")).certPem);
  expect((await timed()).came).toMatchObject({ kind: "unanswered" });
});
