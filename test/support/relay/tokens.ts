/** Tokens for tests: honest ones, signed as a function signs them, and crooked ones made part by part. */
import { tokenSource } from "../../../shared/adapters/api-token.ts";
import { TOKEN_AUDIENCE_HEADER, TOKEN_PREFIX } from "../../../shared/domain/identity.ts";

export const REGION = "eu-west-1";
export const STS_HOST = `sts.${REGION}.amazonaws.com`;
export const CLUSTER = "example";
export const ACCOUNT = "123456789012";

export interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

const SOME_CREDENTIALS: Credentials = {
  accessKeyId: "ASIAEXAMPLEEXAMPLE12",
  secretAccessKey: "a-secret-for-tests",
  sessionToken: "FwoGZXIvYXdzE+example/session//token==",
};

/** A token as the functions make it. */
export async function signToken(options: {
  readonly audience: string;
  readonly credentials?: Credentials;
  readonly region?: string;
  readonly at?: Date;
}): Promise<string> {
  const { audience, credentials = SOME_CREDENTIALS, region = REGION, at = new Date() } = options;
  return tokenSource({ audience, region, credentials: () => credentials, clock: { now: () => at } })();
}

/** Wraps any text as a token. */
export function tokenFor(url: string): string {
  return TOKEN_PREFIX + Buffer.from(url, "latin1").toString("base64url");
}

export type Parameters = Readonly<Record<string, string>>;

/** The nine parameters of an honest token that was signed at `at`; no real signature. */
export function honestParameters(at: Date): Parameters {
  const date = at.toISOString().replace(/[-:]|\.\d{3}/g, "");
  return {
    Action: "GetCallerIdentity",
    Version: "2011-06-15",
    "X-Amz-Algorithm": "AWS4-HMAC-SHA256",
    "X-Amz-Credential": `ASIAEXAMPLEEXAMPLE12/${date.slice(0, 8)}/${REGION}/sts/aws4_request`,
    "X-Amz-Date": date,
    "X-Amz-Expires": "60",
    "X-Amz-Security-Token": "FwoGZXIvYXdzE+example/session//token==",
    "X-Amz-SignedHeaders": `host;${TOKEN_AUDIENCE_HEADER}`,
    "X-Amz-Signature": "0".repeat(64),
  };
}

export function queryOf(parameters: Parameters): string {
  return Object.entries(parameters)
    .map(([key, value]) => `${key}=${encodeURIComponent(value)}`)
    .join("&");
}

/** An honest-looking token with some parameters changed; `undefined` leaves one out. */
export function tokenWith(at: Date, changes: Readonly<Record<string, string | undefined>> = {}): string {
  const all = Object.entries({ ...honestParameters(at), ...changes });
  const kept = all.flatMap(([key, value]) => (value === undefined ? [] : [[key, value] as const]));
  return tokenFor(`https://${STS_HOST}/?${queryOf(Object.fromEntries(kept))}`);
}
