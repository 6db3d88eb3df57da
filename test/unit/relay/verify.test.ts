/** How long a verdict lives, and how seldom STS is asked; time is the test's own. */
import { describe, expect, test } from "vitest";
import { InFlightLimit, RateLimit } from "../../../relay/limits.ts";
import type { StsAnswer } from "../../../relay/sts.ts";
import { type Verdict, verifier } from "../../../relay/verify.ts";
import { REGION, STS_HOST, tokenWith } from "../../support/relay/tokens.ts";

const START = new Date("2026-11-30T10:00:00Z");
const ROLE = "nodekeeper-example-drain-urgent";
const CALLER = assumedRole(ROLE);
const KNOWN = { kind: "known", identity: `aws/123456789012/${ROLE}` };

function assumedRole(role: string, account = "123456789012"): StsAnswer {
  return { kind: "caller", account, arn: `arn:aws:sts::${account}:assumed-role/${role}/session` };
}
function at(seconds: number): Date {
  return new Date(START.getTime() + seconds * 1000);
}

/** A verifier whose time and STS the test holds; `waiting` are the calls that STS hasn't answered. */
function setup(options: { answer?: StsAnswer; perSecond?: number; slow?: boolean } = {}) {
  const state = { now: START, answer: options.answer ?? CALLER, calls: 0 };
  const waiting: ((answer: StsAnswer) => void)[] = [];
  const perSecond = options.perSecond ?? 1000;
  const rate = () => new RateLimit({ perSecond, burst: perSecond });
  const verify = verifier({
    sts: { region: REGION, host: STS_HOST },
    askSts: async () => {
      state.calls += 1;
      if (options.slow !== true) return state.answer;
      const { promise, resolve } = Promise.withResolvers<StsAnswer>();
      waiting.push(resolve);
      return promise;
    },
    isSomebody: (identity) => identity === KNOWN.identity,
    perSource: { newTokens: rate(), badTokens: rate(), stsCalls: new InFlightLimit(5) },
    now: () => state.now,
  });
  return { state, waiting, verify: (token: string, source = "10.0.0.1") => verify(token, source) };
}
/** Another token of the same caller. */
function another(index: number): string {
  return tokenWith(START, { "X-Amz-Signature": index.toString(16).padStart(64, "0") });
}

describe("a verdict", () => {
  test("is remembered: STS is asked once for a token", async () => {
    const { state, verify } = setup();
    expect(await verify(tokenWith(START))).toEqual(KNOWN);
    state.now = at(59);
    expect(await verify(tokenWith(START))).toEqual(KNOWN);
    expect(state.calls).toBe(1);
  });
  test("does not outlive the token: a replay after 60 seconds is refused without asking STS", async () => {
    const { state, verify } = setup();
    await verify(tokenWith(START));
    state.now = at(60);
    expect((await verify(tokenWith(START))).kind).toBe("refused");
    expect(state.calls).toBe(1);
  });
  test("on a token that was half a minute old when first seen lives only for the other half", async () => {
    const { state, verify } = setup();
    state.now = at(30);
    await verify(tokenWith(START));
    state.now = at(60);
    expect((await verify(tokenWith(START))).kind).toBe("refused");
  });
  test("on a token dated ahead lives 60 seconds from now, then STS is asked again", async () => {
    const { state, verify } = setup();
    const ahead = tokenWith(at(50));
    await verify(ahead);
    state.now = at(59);
    await verify(ahead);
    expect(state.calls).toBe(1);
    state.now = at(61);
    await verify(ahead);
    expect(state.calls).toBe(2);
  });
  test("is of that very token: another one of the same caller is asked about", async () => {
    const { state, verify } = setup();
    await verify(another(1));
    await verify(another(2));
    expect(state.calls).toBe(2);
  });
  test("is kept for a bounded number of tokens", async () => {
    const { state, verify } = setup({ perSecond: 5000 });
    for (let index = 0; index < 1_001; index++) await verify(another(index));
    await verify(another(1_000));
    expect(state.calls).toBe(1_001);
    await verify(another(0));
    expect(state.calls).toBe(1_002);
  });
});

describe("a refusal by STS", () => {
  test("is remembered for 5 seconds", async () => {
    const { state, verify } = setup({ answer: { kind: "refused", because: "STS answered 403" } });
    await verify(tokenWith(START));
    state.now = at(4);
    expect((await verify(tokenWith(START))).kind).toBe("refused");
    expect(state.calls).toBe(1);
    state.now = at(5);
    state.answer = CALLER;
    expect(await verify(tokenWith(START))).toEqual(KNOWN);
  });
  test("does not push out those who are known, however many there are", async () => {
    const { state, verify } = setup({ perSecond: 5000 });
    await verify(tokenWith(START));
    state.answer = { kind: "refused", because: "STS answered 403" };
    for (let index = 1; index < 1_200; index++) await verify(another(index));
    const before = state.calls;
    expect(await verify(tokenWith(START))).toEqual(KNOWN);
    expect(state.calls).toBe(before);
  });
});

describe("a caller who is nobody here", () => {
  const NOBODY = { kind: "known", identity: "aws/210987654321/role" };
  test("is remembered for 5 seconds only, in case it becomes somebody", async () => {
    const { state, verify } = setup({ answer: assumedRole("role", "210987654321") });
    expect(await verify(tokenWith(START))).toEqual(NOBODY);
    state.now = at(4);
    expect(await verify(tokenWith(START))).toEqual(NOBODY);
    expect(state.calls).toBe(1);
    state.now = at(5);
    await verify(tokenWith(START));
    expect(state.calls).toBe(2);
  });
  test("does not push out those who are known, however many roles of however many accounts there are", async () => {
    const { state, verify } = setup({ perSecond: 5000 });
    await verify(tokenWith(START));
    for (let index = 1; index <= 1_200; index++) {
      state.answer = assumedRole(`role-${index}`, "210987654321");
      await verify(another(index));
    }
    expect(state.calls).toBe(1_201);
    expect(await verify(tokenWith(START))).toEqual(KNOWN);
    expect(state.calls).toBe(1_201);
  });
});

test("that STS didn't answer is not remembered", async () => {
  const { state, verify } = setup({ answer: { kind: "unavailable", because: "STS answered 500" } });
  expect((await verify(tokenWith(START))).kind).toBe("unavailable");
  state.answer = CALLER;
  expect(await verify(tokenWith(START))).toEqual(KNOWN);
});

test("cached verdicts go on while STS is away", async () => {
  const { state, verify } = setup();
  await verify(tokenWith(START));
  state.answer = { kind: "unavailable", because: "STS answered 500" };
  state.now = at(30);
  expect(await verify(tokenWith(START))).toEqual(KNOWN);
  expect((await verify(another(1))).kind).toBe("unavailable");
});

test("many requests with one new token are one call to STS, and count once against their source", async () => {
  const { state, waiting, verify } = setup({ slow: true, perSecond: 1 });
  const verdicts = Array.from({ length: 50 }, () => verify(tokenWith(START)));
  await Promise.resolve();
  expect(state.calls).toBe(1);
  waiting[0]?.(CALLER);
  expect(await Promise.all(verdicts)).toEqual(Array.from({ length: 50 }, () => KNOWN));
});

test("no more than 20 calls to STS are in flight; the 21st caller is asked to come back", async () => {
  const { state, waiting, verify } = setup({ slow: true });
  const first = Array.from({ length: 20 }, (_, index) => verify(another(index), `10.0.0.${index % 4}`));
  expect((await verify(another(20), "10.0.0.9")).kind).toBe("unavailable");
  expect(state.calls).toBe(20);
  for (const answer of waiting) answer(CALLER);
  await Promise.all(first);
  const late = verify(another(20), "10.0.0.9");
  waiting[20]?.(CALLER);
  expect(await late).toEqual(KNOWN);
});

test("no more than 5 of the calls in flight are of one source, and the places it leaves are free again", async () => {
  const { state, waiting, verify } = setup({ slow: true });
  const first = Array.from({ length: 5 }, (_, index) => verify(another(index)));
  expect((await verify(another(5))).kind).toBe("limited");
  expect(state.calls).toBe(5);
  const other = verify(another(6), "10.0.0.2");
  expect(state.calls).toBe(6);
  for (const answer of waiting) answer({ kind: "refused", because: "STS answered 403" });
  await Promise.all([...first, other]);
  const late = verify(another(5));
  waiting[6]?.(CALLER);
  expect(await late).toEqual(KNOWN);
});

describe("a source that sends one new token after the other", () => {
  test("is limited before STS is asked, and others are not", async () => {
    const { state, verify } = setup({ perSecond: 2 });
    const kinds: Verdict["kind"][] = [];
    for (let index = 0; index < 4; index++) kinds.push((await verify(another(index))).kind);
    expect(kinds).toEqual(["known", "known", "limited", "limited"]);
    expect(state.calls).toBe(2);
    expect((await verify(another(9), "10.0.0.2")).kind).toBe("known");
  });
  test("is served again after a second", async () => {
    const { state, verify } = setup({ perSecond: 1 });
    await verify(another(1));
    expect((await verify(another(2))).kind).toBe("limited");
    state.now = at(1);
    expect((await verify(another(2))).kind).toBe("known");
  });
  test("is served with a token that is known already", async () => {
    const { verify } = setup({ perSecond: 1 });
    await verify(another(1));
    expect((await verify(another(2))).kind).toBe("limited");
    expect(await verify(another(1))).toEqual(KNOWN);
  });
  test("is limited for tokens that can't be read, which leaves honest callers of the same address alone", async () => {
    const { verify } = setup({ perSecond: 1 });
    expect((await verify("nonsense")).kind).toBe("refused");
    expect((await verify("nonsense")).kind).toBe("limited");
    expect(await verify(another(1))).toEqual(KNOWN);
  });
});

test("a caller that is no assumed role is refused", async () => {
  const { verify } = setup({
    answer: { kind: "caller", account: "123456789012", arn: "arn:aws:iam::123456789012:root" },
  });
  expect((await verify(tokenWith(START))).kind).toBe("refused");
});
