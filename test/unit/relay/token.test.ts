/** Refusals of tokens, case by case, as an attacker or a broken client would send them; none of them reaches STS. */
import { describe, expect, test } from "vitest";
import { readToken } from "../../../relay/token.ts";
import { relayAudience, TOKEN_PREFIX } from "../../../shared/domain/identity.ts";
import {
  CLUSTER,
  honestParameters,
  queryOf,
  REGION,
  STS_HOST,
  signToken,
  tokenFor,
  tokenWith,
} from "../../support/relay/tokens.ts";

const NOW = new Date("2026-11-30T10:00:00Z");
const STS = { region: REGION, host: STS_HOST };
const QUERY = queryOf(honestParameters(NOW));
const CREDENTIAL = "ASIAEXAMPLEEXAMPLE12";

function secondsFromNow(seconds: number): Date {
  return new Date(NOW.getTime() + seconds * 1000);
}
function reasonFor(token: string): string {
  const reading = readToken(token, STS, NOW);
  return reading.kind === "refused" ? reading.because : "accepted";
}

describe("a token is accepted", () => {
  test("when it is made by the signer that the functions use, with its nine parameters", async () => {
    const token = await signToken({ audience: relayAudience(CLUSTER, REGION), at: NOW });
    const reading = readToken(token, STS, NOW);
    expect(reading.kind === "token" ? Object.keys(reading.call.parameters).toSorted() : reading).toEqual(
      Object.keys(honestParameters(NOW)).toSorted(),
    );
  });
  test.each([
    ["signed just now", tokenWith(NOW)],
    ["signed 59 seconds ago", tokenWith(secondsFromNow(-59))],
    ["dated 60 seconds ahead, as clocks differ", tokenWith(secondsFromNow(60))],
    ["with the longest X-Amz-Expires that STS knows", tokenWith(NOW, { "X-Amz-Expires": "900" })],
    [
      "with its parameters in another order",
      tokenFor(`https://${STS_HOST}/?${QUERY.split("&").toReversed().join("&")}`),
    ],
  ])("when it is %s", (_name, token) => {
    expect(reasonFor(token)).toBe("accepted");
  });
  test("for one minute from its date, even if its X-Amz-Expires is longer", () => {
    const reading = readToken(tokenWith(NOW, { "X-Amz-Expires": "900" }), STS, NOW);
    expect(reading.kind === "token" && reading.call.goodUntil).toEqual(secondsFromNow(60));
  });
  test("for less than a minute if its X-Amz-Expires is shorter", () => {
    const reading = readToken(tokenWith(NOW, { "X-Amz-Expires": "10" }), STS, NOW);
    expect(reading.kind === "token" && reading.call.goodUntil).toEqual(secondsFromNow(10));
  });
});

const good = tokenWith(NOW);
const encoded = good.slice(TOKEN_PREFIX.length);

describe("a token is refused for its form", () => {
  test.each([
    ["too long", `${good}${"A".repeat(4096)}`, /longer than 4096/],
    ["empty", "", /begin with/],
    ["without the prefix", encoded, /begin with/],
    ["with another prefix", `k8s-aws-v2.${encoded}`, /begin with/],
    ["with the prefix in upper case", `${TOKEN_PREFIX.toUpperCase()}${encoded}`, /begin with/],
    ["the prefix alone", TOKEN_PREFIX, /characters/],
    [
      "with a character that Node's decoder skips",
      `${TOKEN_PREFIX}${encoded.slice(0, 8)}*${encoded.slice(8)}`,
      /base64url/,
    ],
    [
      "with a line break that Node's decoder skips",
      `${TOKEN_PREFIX}${encoded.slice(0, 8)}\n${encoded.slice(8)}`,
      /base64url/,
    ],
    [
      "with a space that Node's decoder skips",
      `${TOKEN_PREFIX}${encoded.slice(0, 8)} ${encoded.slice(8)}`,
      /base64url/,
    ],
    ["with padding", `${TOKEN_PREFIX}${Buffer.from(`https://${STS_HOST}/`).toString("base64")}=`, /base64url/],
    ["in plain base64", `${TOKEN_PREFIX}${Buffer.from("https://?>?>?>").toString("base64")}`, /base64url/],
    ["with text after the padding", `${TOKEN_PREFIX}${encoded}=${encoded}`, /base64url/],
    ["with a dangling character", `${TOKEN_PREFIX}${Buffer.from("abc").toString("base64url")}A`, /base64url/],
    ["with loose trailing bits", `${TOKEN_PREFIX}${Buffer.from("a").toString("base64url").slice(0, 1)}R`, /base64url/],
    ["with a tab in the URL", tokenFor(`https://${STS_HOST}/?\t${QUERY}`), /characters that no URL has/],
    [
      "with a line break in the URL",
      tokenFor(`https://${STS_HOST}/?${QUERY}\r\nHost: evil.example`),
      /characters that no URL has/,
    ],
    [
      "with a zero byte in the URL",
      tokenFor(`https://${STS_HOST}\0.evil.example/?${QUERY}`),
      /characters that no URL has/,
    ],
    [
      "with a letter beyond ASCII in the URL",
      tokenFor(`https://ſts.${REGION}.amazonaws.com/?${QUERY}`.replace("ſ", "\xdf")),
      /characters that no URL has/,
    ],
    ["with a space before the URL", tokenFor(` https://${STS_HOST}/?${QUERY}`), /characters that no URL has/],
  ])("%s", (_name, token, reason) => {
    expect(reasonFor(token)).toMatch(reason);
  });
});

describe("a token is refused for where it points to", () => {
  test.each([
    ["plain http", `http://${STS_HOST}/?${QUERY}`],
    ["the scheme in upper case", `HTTPS://${STS_HOST}/?${QUERY}`],
    ["no scheme", `//${STS_HOST}/?${QUERY}`],
    ["a foreign host", `https://evil.example/?${QUERY}`],
    ["a host that begins like STS", `https://${STS_HOST}.evil.example/?${QUERY}`],
    ["a host that ends like STS", `https://evil-${STS_HOST}/?${QUERY}`],
    ["another service of AWS", `https://s3.${REGION}.amazonaws.com/?${QUERY}`],
    ["the global STS endpoint", `https://sts.amazonaws.com/?${QUERY}`],
    ["STS of another region", `https://sts.eu-west-2.amazonaws.com/?${QUERY}`],
    ["STS of a region that doesn't exist", `https://sts.eu-nowhere-1.amazonaws.com/?${QUERY}`],
    ["STS of another partition", `https://sts.${REGION}.amazonaws.com.cn/?${QUERY}`],
    ["the FIPS endpoint", `https://sts-fips.${REGION}.amazonaws.com/?${QUERY}`],
    ["the host in upper case", `https://${STS_HOST.toUpperCase()}/?${QUERY}`],
    ["the host with a final dot", `https://${STS_HOST}./?${QUERY}`],
    ["a percent-encoded host", `https://sts%2e${REGION}.amazonaws.com/?${QUERY}`],
    ["an IP address", `https://127.0.0.1/?${QUERY}`],
    ["a user", `https://user@${STS_HOST}/?${QUERY}`],
    ["STS as the user of a foreign host", `https://${STS_HOST}@evil.example/?${QUERY}`],
    ["a user and a password", `https://user:word@${STS_HOST}/?${QUERY}`],
    ["a port", `https://${STS_HOST}:8443/?${QUERY}`],
    ["the default port spelt out", `https://${STS_HOST}:443/?${QUERY}`],
    ["a backslash", `https://${STS_HOST}\\?${QUERY}`],
    ["a backslash before a foreign host", `https://evil.example\\@${STS_HOST}/?${QUERY}`],
    ["a path", `https://${STS_HOST}/path?${QUERY}`],
    ["a doubled slash", `https://${STS_HOST}//?${QUERY}`],
    ["a path that climbs", `https://${STS_HOST}/../?${QUERY}`],
    ["no path", `https://${STS_HOST}?${QUERY}`],
    ["no query", `https://${STS_HOST}/`],
  ])("%s", (_name, url) => {
    expect(reasonFor(tokenFor(url))).toBe("it is not for the STS endpoint of this region");
  });
});

describe("a token is refused for its parameters", () => {
  const names = Object.keys(honestParameters(NOW));

  test.each(names)("when %s is missing", (name) => {
    expect(reasonFor(tokenWith(NOW, { [name]: undefined }))).toBe(`its URL lacks ${name}`);
  });
  test.each(names)("when %s is there twice", (name) => {
    const again = queryOf({ [name]: honestParameters(NOW)[name] ?? "" });
    expect(reasonFor(tokenFor(`https://${STS_HOST}/?${QUERY}&${again}`))).toBe(`its URL has ${name} twice`);
  });
  test.each(names)("when %s is there again in another case", (name) => {
    const token = tokenFor(`https://${STS_HOST}/?${QUERY}&${name.toLowerCase()}=x`);
    expect(reasonFor(token)).toMatch(/does not belong there/);
  });
  test.each(names)("when %s is empty", (name) => {
    expect(reasonFor(tokenWith(NOW, { [name]: "" }))).toBe(`its ${name} is not acceptable`);
  });

  test.each([
    ["another action", { Action: "AssumeRole" }, /Action is not/],
    ["an action in another case", { Action: "getcalleridentity" }, /Action is not/],
    ["an action with more behind it", { Action: "GetCallerIdentity&Action=AssumeRole" }, /Action is not/],
    ["another version of the API", { Version: "2010-05-08" }, /Version is not/],
    ["another algorithm", { "X-Amz-Algorithm": "AWS4-ECDSA-P256-SHA256" }, /Algorithm is not/],
    ["a parameter that STS knows but a token has not", { DurationSeconds: "900" }, /does not belong/],
    ["a parameter named like a property of every object", { constructor: "x" }, /does not belong/],
    ["a parameter __proto__", JSON.parse('{"__proto__":"x"}'), /does not belong/],
    [
      "a credential of another service",
      { "X-Amz-Credential": `${CREDENTIAL}/20261130/${REGION}/s3/aws4_request` },
      /Credential is not/,
    ],
    [
      "a credential of another region",
      { "X-Amz-Credential": `${CREDENTIAL}/20261130/us-east-1/sts/aws4_request` },
      /of elsewhere/,
    ],
    [
      "a credential of another day",
      { "X-Amz-Credential": `${CREDENTIAL}/20261129/${REGION}/sts/aws4_request` },
      /of elsewhere/,
    ],
    [
      "a credential with a path",
      { "X-Amz-Credential": `../${CREDENTIAL}/20261130/${REGION}/sts/aws4_request` },
      /Credential is not/,
    ],
    ["the audience header not signed", { "X-Amz-SignedHeaders": "host" }, /SignedHeaders is not/],
    ["the host header not signed", { "X-Amz-SignedHeaders": "x-k8s-aws-id" }, /SignedHeaders is not/],
    ["one more header signed", { "X-Amz-SignedHeaders": "accept;host;x-k8s-aws-id" }, /SignedHeaders is not/],
    ["a short signature", { "X-Amz-Signature": "0".repeat(63) }, /Signature is not/],
    ["a signature that is no hexadecimal number", { "X-Amz-Signature": "g".repeat(64) }, /Signature is not/],
    ["a session token with a line break", { "X-Amz-Security-Token": "abc\r\ndef" }, /Security-Token is not/],
    ["an expiry of 0", { "X-Amz-Expires": "0" }, /Expires is not/],
    ["an expiry of 901", { "X-Amz-Expires": "901" }, /Expires is not/],
    ["a negative expiry", { "X-Amz-Expires": "-60" }, /Expires is not/],
    ["an expiry that is no whole number", { "X-Amz-Expires": "60.5" }, /Expires is not/],
    ["an expiry that is no number", { "X-Amz-Expires": "soon" }, /Expires is not/],
    ["an expiry with an exponent", { "X-Amz-Expires": "1e2" }, /Expires is not/],
    ["a date in another form", { "X-Amz-Date": "2026-11-30T10:00:00Z" }, /Date is not/],
    ["a date without zone", { "X-Amz-Date": "20261130T100000" }, /Date is not/],
    ["an hour that doesn't exist", { "X-Amz-Date": "20261130T250000Z" }, /does not exist/],
  ])("when it has %s", (_name, changes, reason) => {
    expect(reasonFor(tokenWith(NOW, changes))).toMatch(reason);
  });
  test("when its day doesn't exist, though Date would move it into the next month", () => {
    const changes = {
      "X-Amz-Date": "20261131T100000Z",
      "X-Amz-Credential": `${CREDENTIAL}/20261131/${REGION}/sts/aws4_request`,
    };
    const reading = readToken(tokenWith(NOW, changes), STS, new Date("2026-12-01T10:00:00Z"));
    expect(reading).toEqual({ kind: "refused", because: "its date does not exist" });
  });

  test.each([
    ["a bare key", `${QUERY}&X-Amz-Bare`],
    ["an empty pair", `${QUERY}&`],
    ["a value with a second equals sign", QUERY.replace("Action=GetCallerIdentity", "Action=GetCallerIdentity=x")],
    ["a broken escape", QUERY.replace("GetCallerIdentity", "Get%zzCallerIdentity")],
    ["an escape in a key", QUERY.replace("Action=", "%41ction=")],
    ["semicolons between pairs", QUERY.replaceAll("&", ";")],
    ["a fragment", `${QUERY}#fragment`],
    ["a second question mark", `?${QUERY}`],
  ])("when its query has %s", (_name, query) => {
    expect(reasonFor(tokenFor(`https://${STS_HOST}/?${query}`))).not.toBe("accepted");
  });
});

describe("a token is refused for its age", () => {
  test.each([
    ["60 seconds old", -60, /too old/],
    ["an hour old", -3600, /too old/],
    ["61 seconds ahead", 61, /dated ahead/],
    ["a day ahead", 86_400, /dated ahead/],
  ])("%s", (_name, seconds, reason) => {
    expect(reasonFor(tokenWith(secondsFromNow(seconds)))).toMatch(reason);
  });
  test("past its own X-Amz-Expires", () => {
    expect(reasonFor(tokenWith(secondsFromNow(-20), { "X-Amz-Expires": "15" }))).toMatch(/too old/);
  });
});
