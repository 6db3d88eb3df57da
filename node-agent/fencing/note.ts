/** Notes what happened, and decides nothing: the state after it is what the agent knows then. */
import type { DeviceSight, Unusable } from "./device.ts";
import { maintenanceOf, wantedOf } from "./wanted.ts";
import type { Event, ProtocolSettings, State } from "./words.ts";

export const FIRST_RETRY_MS = 5_000;
const LONGEST_RETRY_MS = 300_000;
/** After a renewal that failed for a reason that may be gone at once. */
const SOON_MS = 1_000;

export function note(state: State, event: Event, settings: ProtocolSettings): State {
  const { nowMs } = event;
  switch (event.kind) {
    case "ticked":
    case "feeding skipped":
      return state;
    case "fed":
      return noteFed(state, nowMs);
    case "open skipped":
      return { ...state, dog: { kind: "none" } };
    case "renewal accepted":
      return noteAccepted(state, event.sentAtMs);
    case "renewal failed":
      return noteFailed(state, event);
    case "node read": {
      const wanted = wantedOf(event.labels, settings.rules);
      const node = { wanted, maintenance: maintenanceOf(event.annotations) };
      return { ...state, node, nodeUnreadBecause: undefined };
    }
    case "node unread":
      return { ...state, nodeUnreadBecause: event.because };
    case "device seen":
      return noteSight(state, event.sight, nowMs);
    case "opened":
      // No feed was given yet: the kernel doesn't ping when a dog that runs is taken over.
      return {
        ...state,
        dog: { kind: "held", ...event.dog, doubt: undefined },
        refusal: undefined,
        fedFor: 0,
        feedAtMs: nowMs,
      };
    case "open refused":
      return noteRefusal({ ...state, dog: { kind: "none" } }, event, nowMs);
    case "feeding failed":
      return doubting(state, `feeding the dog: ${event.because}`, nowMs);
    case "let go":
      return noteLetGo(state, event.stillRunning, nowMs);
    case "crashes counted": {
      const { crashes, calmInMs } = event;
      return { ...state, crashes: { kind: "counted", crashes, calmAtMs: nowMs + calmInMs } };
    }
    case "crashes unknown":
      return { ...state, crashes: { kind: "unknown", because: event.because } };
    case "termination asked": {
      if (state.leaving !== undefined) return state;
      const leaving = { untilMs: nowMs + settings.partingMs, triesLeft: settings.partingTries };
      return { ...state, leaving, renewAtMs: nowMs };
    }
  }
}

function noteAccepted(state: State, sentAtMs: number): State {
  const { inFlight: claim } = state;
  if (claim === undefined) return state;
  const inForce = claim.mode !== "notify" && state.dog.kind === "held" && state.dog.doubt === undefined;
  return {
    ...state,
    inFlight: undefined,
    accepted: { claim, sentAtMs },
    failure: undefined,
    mayClaim: claim.armed,
    retryDelayMs: inForce ? FIRST_RETRY_MS : state.retryDelayMs,
  };
}

function noteFailed(state: State, event: Event & { kind: "renewal failed" }): State {
  const { nowMs, reason, because } = event;
  const { leaving } = state;
  const soon =
    reason === "conflict" || leaving !== undefined ? nowMs + SOON_MS : Math.max(state.renewAtMs, nowMs + SOON_MS);
  return {
    ...state,
    inFlight: undefined,
    failure: { reason, because },
    renewAtMs: soon,
    leaving: leaving && { ...leaving, triesLeft: leaving.triesLeft - 1 },
  };
}

function noteSight(state: State, sight: DeviceSight, nowMs: number): State {
  const seen = { ...state, sight };
  if (state.dog.kind !== "held") return seen;
  if (sight.kind === "absent") return doubting(seen, sight.because, nowMs);
  return sight.running ? seen : doubting(seen, "the kernel says that the dog doesn't run, though we hold it", nowMs);
}

function doubting(state: State, doubt: string, nowMs: number): State {
  if (state.dog.kind !== "held" || state.dog.doubt !== undefined) return state;
  return noteRefusal({ ...state, dog: { ...state.dog, doubt } }, { problem: "failed", because: doubt }, nowMs);
}

/** A dog that can be stopped is opened anew after a doubt. One that can't stays held, so its food must clear it. */
function noteFed(state: State, nowMs: number): State {
  const { dog, sight } = state;
  if (dog.kind !== "held" || dog.doubt === undefined || !dog.nowayout || nowMs < state.retryAtMs) return state;
  const runs = sight?.kind === "present" && sight.running;
  return runs ? { ...state, dog: { ...dog, doubt: undefined }, refusal: undefined } : state;
}

function noteLetGo(state: State, stillRunning: boolean, nowMs: number): State {
  const sight = state.sight?.kind === "present" ? { ...state.sight, running: stillRunning } : state.sight;
  const free: State = { ...state, dog: { kind: "none" }, sight };
  if (!stillRunning) return free;
  return noteRefusal(free, { problem: "failed", because: "the dog runs on after its close" }, nowMs);
}

function noteRefusal(state: State, { problem, because }: Unusable, nowMs: number): State {
  const retryDelayMs = Math.min(2 * state.retryDelayMs, LONGEST_RETRY_MS);
  return { ...state, refusal: { problem, because }, retryAtMs: nowMs + state.retryDelayMs, retryDelayMs };
}
