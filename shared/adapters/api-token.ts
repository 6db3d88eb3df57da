/**
 * Makes the bearer token by which a function says who it is: a GetCallerIdentity URL signed by its own role, in the
 * format of EKS. Signing needs no network; whoever receives the token asks STS.
 */
import { Hash } from "@smithy/core/serde";
import { SignatureV4 } from "@smithy/signature-v4";
import { stsHost, TOKEN_AUDIENCE_HEADER, TOKEN_PREFIX } from "../domain/identity.ts";
import type { Clock } from "../ports/clock.ts";

const EXPIRES_SECONDS = 60;
/** Half of a token's life, so that none is refused for its age on arrival. */
const RENEW_MS = 30_000;

export interface RoleCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

export interface TokenSettings {
  readonly region: string;
  /** What the token is good for: see TOKEN_AUDIENCE in the environment. */
  readonly audience: string;
  /** Asked at each renewal, for the credentials of a role change. */
  readonly credentials: () => RoleCredentials | Promise<RoleCredentials>;
  readonly clock: Pick<Clock, "now">;
}

/** A source of tokens, each given out for 30 s. */
export function tokenSource(settings: TokenSettings): () => Promise<string> {
  let token: Promise<string> | undefined;
  let renewAt = 0;
  return () => {
    const now = settings.clock.now();
    if (token === undefined || now.getTime() >= renewAt) {
      renewAt = now.getTime() + RENEW_MS;
      const signing = signToken(settings, now);
      token = signing;
      // A failed signing is told to those who wait for it, and tried anew by whoever comes next.
      signing.catch(() => {
        if (token === signing) token = undefined;
      });
    }
    return token;
  };
}

async function signToken({ region, audience, credentials }: TokenSettings, now: Date): Promise<string> {
  const host = stsHost(region);
  if (host === undefined) throw new Error(`signing a token: ${region} is of no partition we know`);
  const signer = new SignatureV4({
    service: "sts",
    region,
    credentials: await credentials(),
    sha256: Hash.bind(null, "sha256"),
  });
  const signed = await signer.presign(
    {
      method: "GET",
      protocol: "https:",
      hostname: host,
      path: "/",
      query: { Action: "GetCallerIdentity", Version: "2011-06-15" },
      headers: { host, [TOKEN_AUDIENCE_HEADER]: audience },
    },
    { expiresIn: EXPIRES_SECONDS, signingDate: now, unhoistableHeaders: new Set([TOKEN_AUDIENCE_HEADER]) },
  );
  const query = Object.entries(signed.query ?? {}).map(([key, value]) => `${key}=${encodeURIComponent(String(value))}`);
  return TOKEN_PREFIX + Buffer.from(`https://${host}/?${query.join("&")}`).toString("base64url");
}
