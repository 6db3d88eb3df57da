/**
 * What to do next from what is known, one rule after the other. A command that was given is noted at once, so that
 * deciding again before its answer asks for nothing more.
 */
import type { Aim } from "./aim.ts";
import type { Claim, Command, HeldDog, ProtocolSettings, State, Turn } from "./words.ts";

type Rule = (state: State, aim: Aim, nowMs: number, settings: ProtocolSettings) => Turn;

const nothing = (state: State): Turn => ({ state, commands: [] });
const give = (state: State, ...commands: readonly Command[]): Turn => ({ state, commands });

/** A dog that is let go needs no feed; feeding comes before what takes time. */
const RULES: readonly Rule[] = [part, letGo, feed, open, renew];

export const nextCommands: Rule = (state, aim, nowMs, settings) => {
  let turn = nothing(state);
  for (const rule of RULES) {
    if (turn.state.ended) break;
    const next = rule(turn.state, aim, nowMs, settings);
    turn = { state: next.state, commands: [...turn.commands, ...next.commands] };
  }
  return turn;
};

/** The goodbye: armed=false and the magic close if the API server still answers, else a close that lets the dog run. */
function part(state: State, _aim: Aim, nowMs: number): Turn {
  const { leaving, dog } = state;
  const ended: State = { ...state, dog: { kind: "none" }, ended: true };
  if (leaving === undefined) return nothing(state);
  if (dog.kind === "none") return give(ended, { kind: "exit" });
  if (dog.kind !== "held") return nothing(state);
  const outOfPatience = leaving.triesLeft <= 0 || nowMs >= leaving.untilMs;
  if (state.mayClaim && !outOfPatience) return nothing(state);
  if (state.mayClaim || dog.nowayout) return give(ended, { kind: "abandon" }, { kind: "exit" });
  return nothing(state);
}

function letGo(state: State, aim: Aim): Turn {
  const { dog } = state;
  if (aim.kind === "arm" || dog.kind !== "held" || state.mayClaim || dog.nowayout) return nothing(state);
  return give({ ...state, dog: { kind: "letting go" } }, { kind: "disarm" });
}

function feed(state: State, aim: Aim, nowMs: number, settings: ProtocolSettings): Turn {
  if (state.dog.kind !== "held") return nothing(state);
  const wantsRenewals = aim.kind === "arm" && aim.mode === "watchdog";
  if (state.mayClaim || wantsRenewals) return feedOnRenewal(state, nowMs, settings);
  // Nobody counts on silence: mode local, or a dog that can't be stopped and must not reset a node under maintenance.
  const feeding: Command = { kind: "feed", notAfterMs: undefined };
  return nowMs < state.feedAtMs ? nothing(state) : give({ ...state, feedAtMs: nowMs + settings.renewEveryMs }, feeding);
}

function feedOnRenewal(state: State, nowMs: number, settings: ProtocolSettings): Turn {
  const { accepted } = state;
  if (accepted === undefined || accepted.claim.sequence <= state.fedFor) return nothing(state);
  const notAfterMs = accepted.sentAtMs + settings.feedWithinMs;
  if (nowMs > notAfterMs) return nothing(state);
  return give({ ...state, fedFor: accepted.claim.sequence }, { kind: "feed", notAfterMs });
}

/** To arm; or, at rest, to stop a dog that was left running and would reset a healthy node. */
function open(state: State, aim: Aim, nowMs: number, settings: ProtocolSettings): Turn {
  const { dog, accepted, sight } = state;
  if (dog.kind !== "none" || state.leaving !== undefined) return nothing(state);
  const leftRunning = sight?.kind === "present" && sight.running;
  if (aim.kind === "rest" && !leftRunning) return nothing(state);
  if (accepted === undefined || state.mayClaim || nowMs < state.retryAtMs) return nothing(state);
  const notAfterMs = accepted.sentAtMs + settings.feedWithinMs;
  if (nowMs > notAfterMs) return nothing(state);
  const acceptNowayout = aim.kind === "rest" || aim.acceptNowayout;
  return give({ ...state, dog: { kind: "opening" } }, { kind: "open", acceptNowayout, notAfterMs });
}

function renew(state: State, aim: Aim, nowMs: number, settings: ProtocolSettings): Turn {
  const hasNothingToSay = state.leaving !== undefined && state.dog.kind !== "held";
  if (state.inFlight !== undefined || hasNothingToSay) return nothing(state);
  const claim = claimOf(state, aim);
  const news = state.failure === undefined && state.accepted !== undefined && differs(claim, state.accepted.claim);
  if (nowMs < state.renewAtMs && !news) return nothing(state);
  const sent: State = {
    ...state,
    inFlight: claim,
    sequence: claim.sequence,
    renewAtMs: nowMs + settings.renewEveryMs,
    mayClaim: state.mayClaim || claim.armed,
  };
  return give(sent, { kind: "renew", claim });
}

function claimOf({ dog, sequence }: State, aim: Aim): Claim {
  const held: HeldDog | undefined = dog.kind === "held" ? dog : undefined;
  const mode = held !== undefined && aim.kind === "arm" ? aim.mode : "notify";
  const watchdogTimeoutSeconds = held?.timeoutSeconds;
  return { mode, armed: mode === "watchdog", watchdogTimeoutSeconds, sequence: sequence + 1 };
}

function differs(one: Claim, other: Claim): boolean {
  return (
    one.mode !== other.mode || one.armed !== other.armed || one.watchdogTimeoutSeconds !== other.watchdogTimeoutSeconds
  );
}
