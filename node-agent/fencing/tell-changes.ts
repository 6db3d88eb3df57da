/** What an operator should read about a turn: once when it changes, never again and again while it lasts. */

import type { FencingMode } from "../../shared/domain/fencing-lease.ts";
import { aimOf } from "./aim.ts";
import type { DeviceProblem } from "./device.ts";
import type { Command, Event, ProtocolSettings, State } from "./words.ts";

/** The state as people see it. */
export interface View {
  /** Undefined until the Node was read. */
  readonly modeWanted: FencingMode | undefined;
  readonly modeInForce: FencingMode;
  /** What the API server last accepted. */
  readonly armed: boolean;
  readonly dogHeld: boolean;
  readonly watchdogTimeoutSeconds: number | undefined;
  readonly maintenance: string | undefined;
  /** Why no dog is held as wanted. */
  readonly because: string | undefined;
  readonly problem: DeviceProblem | undefined;
}

export function viewOf(state: State, nowMs: number, settings: ProtocolSettings): View {
  const aim = aimOf(state, nowMs, settings);
  const { dog, accepted, refusal, node } = state;
  const held = dog.kind === "held";
  const refused = aim.kind === "arm" && !held ? refusal : undefined;
  return {
    modeWanted: node?.wanted.mode,
    modeInForce: held && aim.kind === "arm" ? aim.mode : "notify",
    armed: accepted?.claim.armed ?? false,
    dogHeld: held,
    watchdogTimeoutSeconds: held ? dog.timeoutSeconds : undefined,
    maintenance: node?.maintenance,
    because: aim.kind === "rest" ? aim.because : refused?.because,
    problem: aim.kind === "rest" ? aim.problem : refused?.problem,
  };
}

type Report = Command & { kind: "report" };

export function tellChanges(before: State, after: State, event: Event, settings: ProtocolSettings): readonly Report[] {
  return [
    ...tellView(viewOf(before, event.nowMs, settings), viewOf(after, event.nowMs, settings)),
    ...tellRenewals(before, after),
    ...tellNode(before, after),
    ...tellEvent(before, event, settings),
  ];
}

function tellView(before: View, after: View): readonly Report[] {
  if (JSON.stringify(before) === JSON.stringify(after)) return [];
  const report = after.problem === undefined ? say("info", "fencing changed", after) : undefined;
  return [report ?? say("error", "fencing is not in force as wanted", after)];
}

function tellRenewals(before: State, after: State): readonly Report[] {
  if (before.failure === undefined && after.failure !== undefined) return [say("warn", "renewals fail", after.failure)];
  if (before.failure !== undefined && after.failure === undefined) return [say("info", "renewals are accepted again")];
  return [];
}

function tellNode({ nodeUnreadBecause: before }: State, { nodeUnreadBecause: after }: State): readonly Report[] {
  if (before === undefined && after !== undefined)
    return [say("warn", "node is unreadable, its last seen state is kept", { because: after })];
  return before !== undefined && after === undefined ? [say("info", "node is readable again")] : [];
}

function tellEvent(before: State, event: Event, { feedWithinMs }: ProtocolSettings): readonly Report[] {
  if (event.kind === "renewal accepted" && before.dog.kind === "held" && event.nowMs - event.sentAtMs > feedWithinMs)
    return [say("warn", "renewal was accepted too late to feed on it", { afterMs: event.nowMs - event.sentAtMs })];
  if (event.kind === "feeding skipped") return [say("error", "feeding was skipped: the renewal had become too old")];
  if (event.kind === "termination asked" && before.leaving === undefined) return [say("info", "agent is ending")];
  if (event.kind === "let go" && event.stillRunning) return [say("error", "dog runs on after its close")];
  return [];
}

function say(level: Report["level"], message: string, facts: object = {}): Report {
  return { kind: "report", level, message, facts: { ...facts } };
}
