/**
 * Who is calling? Reads the token, asks STS, and remembers the verdict for as long as the token lives. What costs
 * something (an STS call) happens once per token at a time, is limited per source, and limited overall.
 */
import { createHash } from "node:crypto";
import { ExpiringCache } from "./expiring-cache.ts";
import { identityOf } from "./identities.ts";
import type { RateLimit } from "./limits.ts";
import type { AskSts } from "./sts.ts";
import { type PresignedCall, readToken, TOKEN_LIFE_SECONDS } from "./token.ts";

/** So that a caller with a bad token in a loop is no load on STS. */
const REFUSAL_SECONDS = 5;
const MAX_CALLS_IN_FLIGHT = 20;
/** Refusals have a cache of their own: a flood of them must not push out those who are known. */
const MAX_CACHED = 1_000;

export type Verdict =
  | { readonly kind: "known"; readonly identity: string }
  | { readonly kind: "refused"; readonly because: string }
  /** The source has asked too often for someone who isn't known yet. */
  | { readonly kind: "limited"; readonly because: string }
  | { readonly kind: "unavailable"; readonly because: string };

export type StsOutcome = "caller" | "refused" | "unavailable";

export interface VerifierSettings {
  readonly sts: { readonly region: string; readonly host: string };
  readonly askSts: AskSts;
  readonly perSource: RateLimit;
  readonly now: () => Date;
  readonly observe?: { readonly stsCall: (outcome: StsOutcome) => void; readonly cacheHit: () => void };
}

/** `verify(token, source)`: the source is the caller's address. Never throws. */
export type Verify = (token: string, source: string) => Promise<Verdict>;

export function verifier(settings: VerifierSettings): Verify {
  const known = new ExpiringCache<Verdict>(MAX_CACHED);
  const refusals = new ExpiringCache<Verdict>(MAX_CACHED);
  const inFlight = new Map<string, Promise<Verdict>>();

  return async (token, source) => {
    const now = settings.now();
    const key = createHash("sha256").update(token).digest("base64");
    const cached = known.find(key, now) ?? refusals.find(key, now);
    if (cached !== undefined) {
      settings.observe?.cacheHit();
      return cached;
    }
    const shared = inFlight.get(key);
    if (shared !== undefined) return shared;
    if (!settings.perSource.take(source, now)) return { kind: "limited", because: "too many new tokens from there" };

    const reading = readToken(token, settings.sts, now);
    if (reading.kind === "refused") return reading;

    if (inFlight.size >= MAX_CALLS_IN_FLIGHT) return { kind: "unavailable", because: "too many calls to STS" };
    const asking = ask(settings, reading.call).finally(() => inFlight.delete(key));
    inFlight.set(key, asking);

    const verdict = await asking;
    const answeredAt = settings.now();
    if (verdict.kind === "known") known.put(key, verdict, earlier(reading.call.goodUntil, answeredAt));
    if (verdict.kind === "refused") refusals.put(key, verdict, plusSeconds(answeredAt, REFUSAL_SECONDS));
    return verdict;
  };
}

async function ask(settings: VerifierSettings, call: PresignedCall): Promise<Verdict> {
  const answer = await settings.askSts(call);
  settings.observe?.stsCall(answer.kind);
  if (answer.kind !== "caller") return answer;
  const identity = identityOf(answer);
  return identity === undefined
    ? { kind: "refused", because: "the caller is not an assumed role" }
    : { kind: "known", identity };
}

/** The token's own end, but never more than a token's life from now: tokens may be dated ahead. */
function earlier(goodUntil: Date, now: Date): Date {
  return new Date(Math.min(goodUntil.getTime(), plusSeconds(now, TOKEN_LIFE_SECONDS).getTime()));
}

function plusSeconds(date: Date, seconds: number): Date {
  return new Date(date.getTime() + seconds * 1000);
}
