/**
 * The one question the relay asks AWS: whose signature is this? It writes the URL itself from the checked parts of
 * a token and signs nothing; STS verifies the caller's signature, which covers our audience header and STS's host.
 */
import * as https from "node:https";
import * as z from "zod";
import { TOKEN_AUDIENCE_HEADER } from "../shared/domain/identity.ts";
import { parseJson } from "../shared/domain/parse-json.ts";
import type { PresignedCall } from "./token.ts";

/** Below the 2 s that callers wait for an answer, so that they hear "later" instead of nothing. */
const DEFAULT_TIME_LIMIT_MS = 1_500;
const MAX_ANSWER_BYTES = 16 * 1024;
const MAX_SOCKETS = 20;

export type StsAnswer =
  | { readonly kind: "caller"; readonly account: string; readonly arn: string }
  /** STS says that the signature is not good. */
  | { readonly kind: "refused"; readonly because: string }
  /** Nobody knows: throttled, down, or talking nonsense. */
  | { readonly kind: "unavailable"; readonly because: string };

export type AskSts = (call: PresignedCall) => Promise<StsAnswer>;

export interface StsSettings {
  /** Regional host name: used for SNI, Host header and the check of the certificate. */
  readonly host: string;
  /** Where to connect to instead of host:443; changes nothing but the TCP address. */
  readonly connect?: { readonly host: string; readonly port: number } | undefined;
  readonly audience: string;
  /** PEM of the only CAs to trust instead of the system's. */
  readonly ca?: string | undefined;
  readonly timeLimitMs?: number | undefined;
}

const callerSchema = z.object({
  GetCallerIdentityResponse: z.object({
    GetCallerIdentityResult: z.object({ Account: z.string(), Arn: z.string() }),
  }),
});
const errorSchema = z.object({ Error: z.object({ Code: z.string() }) });

/** STS for one region. The function it gives never throws. */
export function stsOf(settings: StsSettings): AskSts {
  const agent = new https.Agent({ keepAlive: true, maxSockets: MAX_SOCKETS, timeout: 30_000 });
  return async (call) => {
    try {
      return interpret(await get(settings, agent, call));
    } catch (error) {
      return { kind: "unavailable", because: `asking STS: ${error instanceof Error ? error.message : "failed"}` };
    }
  };
}

interface RawAnswer {
  readonly status: number;
  readonly body: string;
}

async function get(settings: StsSettings, agent: https.Agent, call: PresignedCall): Promise<RawAnswer> {
  const signal = AbortSignal.timeout(settings.timeLimitMs ?? DEFAULT_TIME_LIMIT_MS);
  const { promise, resolve, reject } = Promise.withResolvers<RawAnswer>();
  const request = https.request(
    {
      agent,
      signal,
      host: settings.connect?.host ?? settings.host,
      port: settings.connect?.port ?? 443,
      servername: settings.host,
      ...(settings.ca === undefined ? {} : { ca: settings.ca }),
      method: "GET",
      path: `/?${queryOf(call)}`,
      headers: { Host: settings.host, [TOKEN_AUDIENCE_HEADER]: settings.audience, Accept: "application/json" },
    },
    (response) => {
      const chunks: Buffer[] = [];
      let size = 0;
      response.on("data", (chunk: Buffer) => {
        size += chunk.length;
        chunks.push(chunk);
        if (size > MAX_ANSWER_BYTES) request.destroy(new Error(`the answer exceeds ${MAX_ANSWER_BYTES} bytes`));
      });
      response.on("end", () => resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString() }));
      response.on("error", reject);
    },
  );
  request.on("error", reject);
  request.end();
  return promise;
}

function queryOf(call: PresignedCall): string {
  return Object.entries(call.parameters)
    .map(([key, value]) => `${key}=${encodeURIComponent(value)}`)
    .join("&");
}

function interpret({ status, body }: RawAnswer): StsAnswer {
  if (status === 403) return { kind: "refused", because: "STS answered 403" };
  if (status !== 200 && status !== 400) return { kind: "unavailable", because: `STS answered ${status}` };

  const json = parseJson(body);
  if (status === 400) {
    const code = errorSchema.safeParse(json).data?.Error.Code;
    if (code === undefined) return { kind: "unavailable", because: "STS answered 400 without a code" };
    // Throttling is a 400 at STS: https://docs.aws.amazon.com/STS/latest/APIReference/CommonErrors.html
    if (/throttl/i.test(code)) return { kind: "unavailable", because: "STS throttles" };
    return { kind: "refused", because: "STS answered 400" };
  }
  const caller = callerSchema.safeParse(json).data?.GetCallerIdentityResponse.GetCallerIdentityResult;
  if (caller === undefined) return { kind: "unavailable", because: "STS's answer was not understood" };
  return { kind: "caller", account: caller.Account, arn: caller.Arn };
}
