/**
 * The protocol between agent, Lease and dog, pure: `step` notes what happened, then decides from what is known. Drive it
 * with one event at a time: begin with `initialState()`, carry out the commands of each turn in their order, and bring
 * back what came of each as an event, with the clock's reading of that moment. Send `ticked` about every second.
 * `agent.ts` does so with real parts; it takes `step` as a value, so that a test can put a wrong one in its place.
 *
 * What it keeps: while the Lease may say armed=true, the dog is fed only on a renewal that was accepted and sent at most
 * G ago. armed=true is said only while a dog is held. The dog is opened, and stopped, only after armed=false was accepted.
 */
import { aimOf } from "./aim.ts";
import { nextCommands } from "./next-commands.ts";
import { FIRST_RETRY_MS, note } from "./note.ts";
import { tellChanges } from "./tell-changes.ts";
import type { Event, ProtocolSettings, State, Turn } from "./words.ts";

/** Of an agent that just started and knows nothing: a predecessor may have left a claim in the Lease. */
export function initialState(nowMs: number): State {
  return {
    node: undefined,
    nodeUnreadBecause: undefined,
    sight: undefined,
    dog: { kind: "none" },
    mayClaim: true,
    inFlight: undefined,
    accepted: undefined,
    failure: undefined,
    sequence: 0,
    renewAtMs: nowMs,
    fedFor: 0,
    feedAtMs: nowMs,
    refusal: undefined,
    retryAtMs: nowMs,
    retryDelayMs: FIRST_RETRY_MS,
    crashes: { kind: "uncounted" },
    leaving: undefined,
    ended: false,
  };
}

export function step(before: State, event: Event, settings: ProtocolSettings): Turn {
  if (before.ended) return { state: before, commands: [] };
  const noted = note(before, event, settings);
  const aim = aimOf(noted, event.nowMs, settings);
  const turn = nextCommands(noted, aim, event.nowMs, settings);
  const told = tellChanges(before, turn.state, event, settings);
  return { state: turn.state, commands: [...told, ...turn.commands] };
}
