/**
 * Who is calling? Reads the token, asks STS, and remembers the verdict for as long as the token lives. What costs
 * something (an STS call) happens once per token at a time, is limited per source, and limited overall. What strangers
 * send takes neither places nor memory from those who are known.
 */
import { createHash } from "node:crypto";
import { ExpiringCache } from "./expiring-cache.ts";
import { identityOf } from "./identities.ts";
import type { InFlightLimit, RateLimit } from "./limits.ts";
import type { AskSts } from "./sts.ts";
import { type PresignedCall, readToken, TOKEN_LIFE_SECONDS } from "./token.ts";

/** So that a caller with a bad token in a loop is no load on STS. */
const REFUSAL_SECONDS = 5;
/** At a time, for all sources. */
export const MAX_STS_CALLS = 20;
/** Refusals and nobodies have a cache of their own: a flood of them must not push out those who are known. */
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
  /** Whether an identity is on the map. Every role of every AWS account passes STS; only these are remembered for long. */
  readonly isSomebody: (identity: string) => boolean;
  readonly perSource: SourceLimits;
  readonly now: () => Date;
  readonly observe?: { readonly stsCall: (outcome: StsOutcome) => void; readonly cacheHit: () => void };
}

/** What one address can take from the others. */
export interface SourceLimits {
  /** Tokens that aren't known yet and read well: each is a call to STS. */
  readonly newTokens: RateLimit;
  /** Tokens that don't: seen without a call, so they don't use up what honest callers of the same address need. */
  readonly badTokens: RateLimit;
  /** Calls to STS at a time. */
  readonly stsCalls: InFlightLimit;
}

/** `verify(token, source)`: the source is the caller's address. Never throws. */
export type Verify = (token: string, source: string) => Promise<Verdict>;

export function verifier(settings: VerifierSettings): Verify {
  const { newTokens, badTokens, stsCalls } = settings.perSource;
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

    const reading = readToken(token, settings.sts, now);
    if (reading.kind === "refused") return badTokens.take(source, now) ? reading : limited("too many bad tokens");

    if (!newTokens.take(source, now)) return limited("too many new tokens");
    if (inFlight.size >= MAX_STS_CALLS) return { kind: "unavailable", because: "too many calls to STS" };
    if (!stsCalls.enter(source)) return limited("too many calls to STS at a time");
    const asking = ask(settings, reading.call).finally(() => {
      inFlight.delete(key);
      stsCalls.leave(source);
    });
    inFlight.set(key, asking);

    const verdict = await asking;
    const answeredAt = settings.now();
    const tokenEnd = earlier(reading.call.goodUntil, answeredAt);
    if (verdict.kind === "known" && settings.isSomebody(verdict.identity)) known.put(key, verdict, tokenEnd);
    else if (verdict.kind !== "unavailable") refusals.put(key, verdict, plusSeconds(answeredAt, REFUSAL_SECONDS));
    return verdict;
  };
}

function limited(because: string): Verdict {
  return { kind: "limited", because: `${because} from there` };
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
