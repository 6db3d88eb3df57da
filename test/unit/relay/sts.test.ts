/** What the relay makes of STS's answers, over real TLS: a refusal is one only if STS said so. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type StsAnswer, stsOf } from "../../../relay/sts.ts";
import { readToken } from "../../../relay/token.ts";
import { stsHost } from "../../../shared/domain/identity.ts";
import { createAuthority } from "../../rig/pki.ts";
import {
  answerCaller,
  answerJson,
  answerStsError,
  type FakeServer,
  type Play,
  startFakeServer,
} from "../../support/relay/fake-server.ts";
import { REGION, STS_HOST, tokenWith } from "../../support/relay/tokens.ts";

const ARN = "arn:aws:sts::123456789012:assumed-role/nodekeeper-example-drain-urgent/session";
const TIME_LIMIT_MS = 300;

const authority = await createAuthority();
let sts: FakeServer;
beforeAll(async () => {
  sts = await startFakeServer(authority, [STS_HOST], answerCaller(ARN));
});
beforeEach(() => {
  sts.seen.length = 0;
});
afterAll(() => sts[Symbol.asyncDispose]());

async function ask(play: Play, ca = authority.certPem): Promise<StsAnswer> {
  sts.play(play);
  const askSts = stsOf({
    host: STS_HOST,
    connect: { host: "127.0.0.1", port: sts.port },
    audience: "nodekeeper-relay/example/eu-west-1",
    ca,
    timeLimitMs: TIME_LIMIT_MS,
  });
  const now = new Date();
  const reading = readToken(tokenWith(now), { region: REGION, host: STS_HOST }, now);
  if (reading.kind === "refused") throw new Error(reading.because);
  return askSts(reading.call);
}

test("STS is asked by its own name, for our audience, with the nine parameters and nothing of the caller's", async () => {
  expect(await ask(answerCaller(ARN))).toEqual({ kind: "caller", account: "123456789012", arn: ARN });
  expect(sts.seen).toHaveLength(1);
  const [asked] = sts.seen;
  expect(asked?.method).toBe("GET");
  expect(asked?.target).toMatch(/^\/\?Action=GetCallerIdentity&/);
  expect(new URLSearchParams(asked?.target.slice(2)).size).toBe(9);
  expect(asked?.headers).toEqual({
    host: STS_HOST,
    "x-k8s-aws-id": "nodekeeper-relay/example/eu-west-1",
    accept: "application/json",
    connection: "keep-alive",
  });
});

describe("the caller is refused (401) when STS answers", () => {
  test.each([
    ["403, a wrong signature", answerStsError(403, "SignatureDoesNotMatch")],
    ["403 in words that aren't JSON", answerText(403, "<html>Forbidden</html>")],
    ["400, an expired session", answerStsError(400, "ExpiredTokenException")],
  ])("%s", async (_name, play) => {
    expect((await ask(play)).kind).toBe("refused");
  });
});

describe("nobody knows (503) when STS answers", () => {
  test.each<[string, Play]>([
    ["400, throttled", answerStsError(400, "Throttling")],
    ["400, throttled, by the longer name", answerStsError(400, "ThrottlingException")],
    ["400 without a code", answerText(400, "Bad Request")],
    ["429", answerStsError(429, "TooManyRequests")],
    ["500", answerStsError(500, "InternalFailure")],
    ["503", answerText(503, "")],
    ["404", answerText(404, "")],
    ["200 with nonsense", answerText(200, "hello")],
    ["200 with nothing", answerText(200, "")],
    ["200 in XML", answerText(200, "<GetCallerIdentityResponse/>")],
    ["200 with other JSON", answerJson(200, { Account: "123456789012", Arn: ARN })],
    ["200 with an answer of 1 MB", answerCaller(ARN.padEnd(1024 * 1024, "x"))],
    ["200 with a correct answer that is padded over 16 KB", answerText(200, " ".repeat(17 * 1024) + callerText())],
    ["403 with an endless body", endless(403)],
    ["slowly", slowly],
    ["with a body that doesn't end", endless(200, 1)],
    ["by hanging up", (_request, response) => void response.destroy()],
  ])("%s", async (_name, play) => {
    expect((await ask(play)).kind).toBe("unavailable");
  });

  test("with a redirect, which is not followed", async () => {
    const elsewhere = await startFakeServer(authority, ["127.0.0.1"], answerCaller(ARN));
    const answer = await ask((_request, response) => {
      response.writeHead(307, { location: `https://127.0.0.1:${elsewhere.port}/` }).end(callerText());
    });
    expect(answer.kind).toBe("unavailable");
    expect(elsewhere.seen).toHaveLength(0);
    await elsewhere[Symbol.asyncDispose]();
  });
});

test("a server that can't show a certificate of STS's own name is not asked", async () => {
  const other = await startFakeServer(authority, ["sts.eu-west-2.amazonaws.com", "127.0.0.1"], answerCaller(ARN));
  const askSts = stsOf({
    host: STS_HOST,
    connect: { host: "127.0.0.1", port: other.port },
    audience: "a",
    ca: authority.certPem,
  });
  expect((await askSts({ parameters: {}, goodUntil: new Date() })).kind).toBe("unavailable");
  expect(other.seen).toHaveLength(0);
  await other[Symbol.asyncDispose]();
});

test("a certificate of an unknown authority is not trusted", async () => {
  expect((await ask(answerCaller(ARN), (await createAuthority()).certPem)).kind).toBe("unavailable");
  expect(sts.seen).toHaveLength(0);
});

test("no reason that STS's silence gives holds the signed URL", async () => {
  const answer = await ask((_request, response) => void response.destroy());
  expect(JSON.stringify(answer)).not.toMatch(/X-Amz|GetCallerIdentity/);
});

test.each([
  ["eu-west-1", "sts.eu-west-1.amazonaws.com"],
  ["us-gov-west-1", "sts.us-gov-west-1.amazonaws.com"],
  ["cn-north-1", "sts.cn-north-1.amazonaws.com.cn"],
  ["us-iso-east-1", undefined],
  ["evil.example/", undefined],
  ["", undefined],
])("the STS of region '%s' is %s", (region, host) => {
  expect(stsHost(region)).toBe(host);
});

function answerText(status: number, text: string): Play {
  return (_request, response) => void response.writeHead(status).end(text);
}
function callerText(): string {
  const result = { Account: "123456789012", Arn: ARN };
  return JSON.stringify({ GetCallerIdentityResponse: { GetCallerIdentityResult: result } });
}
function slowly(...[, response]: Parameters<Play>): void {
  setTimeout(() => response.end(callerText()), 3 * TIME_LIMIT_MS).unref();
}
function endless(status: number, bytes = 4096): Play {
  return (_request, response) => {
    response.writeHead(status);
    const timer = setInterval(() => response.write("x".repeat(bytes)), 5);
    response.once("close", () => clearInterval(timer));
  };
}
