/**
 * Carries out what the state machine commands and brings back what came of it. It has no timers and no clock of its
 * own: `run.ts` sends ticks, a test sends whatever it likes, and puts another `step` in if it wants a wrong agent.
 */
import type { WatchdogDevice } from "./device.ts";
import type { Renewal } from "./lease-book.ts";
import { initialState } from "./state-machine.ts";
import type { Claim, Command, Event, Happening, ProtocolSettings, State, Step } from "./words.ts";

export interface AgentParts {
  readonly step: Step;
  readonly settings: ProtocolSettings;
  readonly device: WatchdogDevice;
  /** One at a time. */
  readonly renew: (claim: Claim) => Promise<Renewal>;
  /** Monotonic milliseconds. */
  readonly nowMs: () => number;
  readonly report: (report: Command & { kind: "report" }) => void;
  readonly exit: () => void;
  /** Told of each event, for counting. */
  readonly observe?: (event: Event) => void;
}

export interface Agent {
  readonly state: State;
  /** Notes that this happened now, and does all that follows from it at once; only renewals take time. */
  happen(happening: Happening): void;
}

export function createAgent(parts: AgentParts): Agent {
  const { step, settings, device, nowMs } = parts;
  let state = initialState(nowMs());
  const waiting: Happening[] = [];
  let busy = false;

  function happen(happening: Happening): void {
    waiting.push(happening);
    // What follows from a command is noted after the commands before it: no event overtakes another.
    if (busy) return;
    busy = true;
    try {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) take({ ...next, nowMs: nowMs() });
    } finally {
      busy = false;
    }
  }

  function take(event: Event): void {
    parts.observe?.(event);
    const turn = step(state, event, settings);
    state = turn.state;
    for (const command of turn.commands) carryOut(command);
  }

  function carryOut(command: Command): void {
    switch (command.kind) {
      case "renew":
        void renew(command.claim);
        return;
      case "open":
        happen(open(command));
        return;
      case "feed":
        happen(feed(command.notAfterMs));
        return;
      case "disarm":
        happen({ kind: "let go", stillRunning: device.disarm() });
        return;
      case "abandon":
        device.abandon();
        return;
      case "report":
        parts.report(command);
        return;
      case "exit":
        parts.exit();
        return;
    }
  }

  async function renew(claim: Claim): Promise<void> {
    const renewal = await parts.renew(claim);
    if (renewal.kind === "accepted") happen({ kind: "renewal accepted", sentAtMs: renewal.sentAtMs });
    else happen({ kind: "renewal failed", reason: renewal.reason, because: renewal.because });
  }

  /** The clock is read again here: between the decision and now the process may have been stopped for any time. */
  function open({ acceptNowayout, notAfterMs }: Command & { kind: "open" }): Happening {
    if (nowMs() > notAfterMs) return { kind: "open skipped" };
    const opening = device.open({ acceptNowayout });
    if (opening.kind === "refused") return { ...opening, kind: "open refused" };
    return { kind: "opened", dog: { timeoutSeconds: opening.timeoutSeconds, nowayout: opening.nowayout } };
  }

  function feed(notAfterMs: number | undefined): Happening {
    if (notAfterMs !== undefined && nowMs() > notAfterMs) return { kind: "feeding skipped" };
    const because = device.feed();
    return because === undefined ? { kind: "fed" } : { kind: "feeding failed", because };
  }

  return {
    get state() {
      return state;
    },
    happen,
  };
}
