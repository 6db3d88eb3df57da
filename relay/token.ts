/**
 * Reads a bearer token, `k8s-aws-v1.` + base64url of a presigned GetCallerIdentity URL, into the few parts that
 * differ between honest tokens. Everything else of the URL is compared, not parsed: the relay later writes its own
 * URL from these parts (sts.ts), so a token can't steer where the relay calls or what it says there.
 */
import { TOKEN_AUDIENCE_HEADER, TOKEN_PREFIX } from "../shared/domain/identity.ts";

/** Real tokens with session credentials have a little over 2 KB. */
const MAX_TOKEN_LENGTH = 4096;
/** A token is good for one minute from its own date, whatever its X-Amz-Expires says; callers renew at half of it. */
export const TOKEN_LIFE_SECONDS = 60;
const MAX_AHEAD_SECONDS = 60;
const MAX_EXPIRES_SECONDS = 900;

/** What a presigned GetCallerIdentity URL holds, values decoded; https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-query-string-auth.html */
const PARAMETERS: Readonly<Record<string, RegExp>> = {
  Action: /^GetCallerIdentity$/,
  Version: /^2011-06-15$/,
  "X-Amz-Algorithm": /^AWS4-HMAC-SHA256$/,
  "X-Amz-Credential": /^[A-Za-z0-9_]{12,128}\/\d{8}\/[a-z0-9-]+\/sts\/aws4_request$/,
  "X-Amz-Date": /^\d{8}T\d{6}Z$/,
  "X-Amz-Expires": /^[1-9]\d{0,2}$/,
  "X-Amz-Security-Token": /^[A-Za-z0-9+/=_-]+$/,
  "X-Amz-SignedHeaders": new RegExp(`^host;${TOKEN_AUDIENCE_HEADER}$`),
  "X-Amz-Signature": /^[0-9a-f]{64}$/,
};

export interface PresignedCall {
  /** The nine parameters, decoded and checked. */
  readonly parameters: Readonly<Record<string, string>>;
  /** When the token stops being good. */
  readonly goodUntil: Date;
}

export type TokenReading =
  | { readonly kind: "token"; readonly call: PresignedCall }
  | { readonly kind: "refused"; readonly because: string };

/** @param sts region and host of the only STS endpoint that tokens may be for. */
export function readToken(token: string, sts: { region: string; host: string }, now: Date): TokenReading {
  const url = decode(token);
  if (url.kind === "refused") return url;

  const start = `https://${sts.host}/?`;
  if (!url.text.startsWith(start)) return refused("it is not for the STS endpoint of this region");

  const query = readQuery(url.text.slice(start.length));
  if (query.kind === "refused") return query;
  return checkScopeAndAge(query.parameters, sts.region, now);
}

function decode(token: string): { kind: "text"; text: string } | { kind: "refused"; because: string } {
  if (token.length > MAX_TOKEN_LENGTH) return refused(`it is longer than ${MAX_TOKEN_LENGTH} characters`);
  if (!token.startsWith(TOKEN_PREFIX)) return refused(`it does not begin with ${TOKEN_PREFIX}`);
  const encoded = token.slice(TOKEN_PREFIX.length);
  const bytes = Buffer.from(encoded, "base64url");
  // Node's decoder skips what it doesn't know; only the one canonical spelling of the bytes comes back equal.
  if (bytes.toString("base64url") !== encoded) return refused("it is not base64url");
  const text = bytes.toString("latin1");
  if (!/^[!-~]+$/.test(text)) return refused("its URL holds characters that no URL has");
  return { kind: "text", text };
}

function readQuery(
  query: string,
): { kind: "parameters"; parameters: Record<string, string> } | { kind: "refused"; because: string } {
  const found = new Map<string, string>();
  for (const pair of query.split("&")) {
    const [key = "", raw, ...rest] = pair.split("=");
    const pattern = Object.hasOwn(PARAMETERS, key) ? PARAMETERS[key] : undefined;
    if (pattern === undefined) return refused("its URL has a parameter that does not belong there");
    if (found.has(key)) return refused(`its URL has ${key} twice`);
    const value = raw === undefined || rest.length > 0 ? undefined : decodeValue(raw);
    if (value === undefined || !pattern.test(value)) return refused(`its ${key} is not acceptable`);
    found.set(key, value);
  }
  const missing = Object.keys(PARAMETERS).find((key) => !found.has(key));
  if (missing !== undefined) return refused(`its URL lacks ${missing}`);
  return { kind: "parameters", parameters: Object.fromEntries(found) };
}

function decodeValue(raw: string): string | undefined {
  try {
    return decodeURIComponent(raw);
  } catch {
    return undefined;
  }
}

function checkScopeAndAge(parameters: Record<string, string>, region: string, now: Date): TokenReading {
  const date = parameters["X-Amz-Date"] ?? "";
  const [, day, scopeRegion] = (parameters["X-Amz-Credential"] ?? "").split("/");
  if (scopeRegion !== region || day !== date.slice(0, 8)) return refused("its credential scope is of elsewhere");

  const signedAt = readDate(date);
  if (signedAt === undefined) return refused("its date does not exist");
  const expires = Number(parameters["X-Amz-Expires"]);
  if (expires > MAX_EXPIRES_SECONDS) return refused("its X-Amz-Expires is not acceptable");

  const goodUntil = new Date(signedAt.getTime() + Math.min(expires, TOKEN_LIFE_SECONDS) * 1000);
  if (goodUntil.getTime() <= now.getTime()) return refused("it is too old");
  if (signedAt.getTime() > now.getTime() + MAX_AHEAD_SECONDS * 1000) return refused("it is dated ahead");
  return { kind: "token", call: { parameters, goodUntil } };
}

/** `20261130T100000Z`; Date would move a 31 November into December, so the way back must give the same text. */
function readDate(basic: string): Date | undefined {
  const date = new Date(basic.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, "$1-$2-$3T$4:$5:$6Z"));
  if (Number.isNaN(date.getTime())) return undefined;
  return date.toISOString().replace(/[-:]|\.\d{3}/g, "") === basic ? date : undefined;
}

function refused(because: string): { kind: "refused"; because: string } {
  return { kind: "refused", because };
}
