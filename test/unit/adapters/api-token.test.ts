/** The token of a function: what it holds, how long it is given out, and that the signature is AWS's. */
import { createHash, createHmac } from "node:crypto";
import { expect, test } from "vitest";
import { readToken } from "../../../relay/token.ts";
import { tokenSource } from "../../../shared/adapters/api-token.ts";
import { HeldClock } from "../../fakes/held-clock.ts";

const CREDENTIALS = {
  accessKeyId: "ASIAEXAMPLEEXAMPLE12",
  secretAccessKey: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
  sessionToken: "IQoJb3JpZ2luX2VjE+ABC/def==",
};
const AUDIENCE = "nodekeeper-relay/demo/eu-west-1";

function open({ region = "eu-west-1", credentials = () => CREDENTIALS } = {}) {
  const clock = new HeldClock("2026-03-01T10:00:00Z");
  return { clock, token: tokenSource({ region, audience: AUDIENCE, credentials, clock }) };
}

function urlOf(token: string): URL {
  return new URL(Buffer.from(token.replace("k8s-aws-v1.", ""), "base64url").toString());
}

test("a token is what the relay takes", async () => {
  const { token, clock } = open();
  const reading = readToken(await token(), { region: "eu-west-1", host: "sts.eu-west-1.amazonaws.com" }, clock.now());
  expect(reading).toMatchObject({ kind: "token", call: { goodUntil: new Date("2026-03-01T10:01:00Z") } });
});

test("the signature is Signature Version 4 over host and audience", async () => {
  const url = urlOf(await open().token());
  const signature = url.searchParams.get("X-Amz-Signature");
  url.searchParams.delete("X-Amz-Signature");
  const query = [...url.searchParams]
    .map(([key, value]) => `${key}=${encodeURIComponent(value)}`)
    .toSorted()
    .join("&");
  const headers = `host:${url.host}\nx-k8s-aws-id:${AUDIENCE}\n`;
  const nothing = createHash("sha256").update("").digest("hex");
  const request = ["GET", "/", query, headers, "host;x-k8s-aws-id", nothing].join("\n");
  const scope = "20260301/eu-west-1/sts/aws4_request";
  const hashed = createHash("sha256").update(request).digest("hex");
  const text = ["AWS4-HMAC-SHA256", "20260301T100000Z", scope, hashed].join("\n");
  const key = scope.split("/").reduce<string | Buffer>(sign, `AWS4${CREDENTIALS.secretAccessKey}`);
  expect(signature).toBe(sign(key, text).toString("hex"));
});

function sign(key: string | Buffer, text: string): Buffer {
  return createHmac("sha256", key).update(text).digest();
}

test("a token is given out for half a minute, then signed anew", async () => {
  const { clock, token } = open();
  const first = await token();
  clock.advance(29_000);
  expect(await token()).toBe(first);
  clock.advance(1_000);
  expect(urlOf(await token()).searchParams.get("X-Amz-Date")).toBe("20260301T100030Z");
});

test("many requests at once share one signing", async () => {
  let asked = 0;
  const credentials = () => {
    asked++;
    return CREDENTIALS;
  };
  const { token } = open({ credentials });
  await Promise.all([token(), token(), token()]);
  expect(asked).toBe(1);
});

test("a signing that failed is tried again with the next request", async () => {
  let fail = true;
  const credentials = () => {
    if (fail) throw new Error("reading the role's credentials: none are set");
    return CREDENTIALS;
  };
  const { token } = open({ credentials });
  await expect(token()).rejects.toThrow("none are set");
  fail = false;
  expect(await token()).toMatch(/^k8s-aws-v1\./);
});

test.each([
  ["eu-west-1", "sts.eu-west-1.amazonaws.com"],
  ["us-gov-west-1", "sts.us-gov-west-1.amazonaws.com"],
  ["cn-north-1", "sts.cn-north-1.amazonaws.com.cn"],
])("in %s the token is for %s", async (region, host) => {
  expect(urlOf(await open({ region }).token()).host).toBe(host);
});
