/**
 * The words of the protocol: what can happen to the agent, what it can do, and what it knows. All times are
 * milliseconds of one monotonic clock of the node.
 */
import type { FencingMode } from "../../shared/domain/fencing-lease.ts";
import type { DeviceSight, Dog, Unusable } from "./device.ts";
import type { FencingRules, Wanted } from "./wanted.ts";

export interface ProtocolSettings {
  readonly rules: FencingRules;
  /** G: age of an accepted renewal, from its sending, up to which it allows a feed. */
  readonly feedWithinMs: number;
  readonly renewEveryMs: number;
  /** Time for the goodbye after SIGTERM, and how many renewals may fail in it. */
  readonly partingMs: number;
  readonly partingTries: number;
}

/** What a renewal says. */
export interface Claim {
  readonly mode: FencingMode;
  /** Only in mode `watchdog`: the dog is fed only by renewals, so that silence means a reset. */
  readonly armed: boolean;
  /** Undefined where no dog is held. */
  readonly watchdogTimeoutSeconds: number | undefined;
  readonly sequence: number;
}

/** `conflict`: somebody else wrote; `refused`: another answer than yes; `unanswered`: it may still be carried out. */
export type RenewalFailure = "conflict" | "refused" | "unanswered";

type Texts = Readonly<Record<string, string>>;

export type Happening =
  | { readonly kind: "ticked" }
  /** The one in flight. `sentAtMs` is taken before its first byte is sent. */
  | { readonly kind: "renewal accepted"; readonly sentAtMs: number }
  | { readonly kind: "renewal failed"; readonly reason: RenewalFailure; readonly because: string }
  | { readonly kind: "node read"; readonly labels: Texts; readonly annotations: Texts }
  | { readonly kind: "node unread"; readonly because: string }
  | { readonly kind: "device seen"; readonly sight: DeviceSight }
  | { readonly kind: "opened"; readonly dog: Dog }
  | ({ readonly kind: "open refused" } & Unusable)
  /** Too late when its turn came. */
  | { readonly kind: "open skipped" }
  | { readonly kind: "fed" }
  | { readonly kind: "feeding failed"; readonly because: string }
  /** Too late when its turn came. */
  | { readonly kind: "feeding skipped" }
  /** After disarm or abandon. */
  | { readonly kind: "let go"; readonly stillRunning: boolean }
  | { readonly kind: "crashes counted"; readonly crashes: number; readonly calmInMs: number }
  | { readonly kind: "crashes unknown"; readonly because: string }
  | { readonly kind: "termination asked" };

export type Event = Happening & { readonly nowMs: number };

export type Command =
  | { readonly kind: "renew"; readonly claim: Claim }
  /** Not after `notAfterMs`: starting a dog is as good as a feed. */
  | { readonly kind: "open"; readonly acceptNowayout: boolean; readonly notAfterMs: number }
  /** Look at the clock right before the write; undefined: whenever. */
  | { readonly kind: "feed"; readonly notAfterMs: number | undefined }
  | { readonly kind: "disarm" }
  | { readonly kind: "abandon" }
  | {
      readonly kind: "report";
      readonly level: "info" | "warn" | "error";
      readonly message: string;
      readonly facts: Readonly<Record<string, unknown>>;
    }
  /** Nothing is held any more. */
  | { readonly kind: "exit" };

export interface HeldDog extends Dog {
  readonly kind: "held";
  /** Why the dog may not run any more, if so. */
  readonly doubt: string | undefined;
}

export type Crashes =
  | { readonly kind: "uncounted" }
  | { readonly kind: "unknown"; readonly because: string }
  | { readonly kind: "counted"; readonly crashes: number; readonly calmAtMs: number };

export interface State {
  /** As last seen; undefined until the Node was read once. */
  readonly node: { readonly wanted: Wanted; readonly maintenance: string | undefined } | undefined;
  readonly nodeUnreadBecause: string | undefined;
  readonly sight: DeviceSight | undefined;
  readonly dog: { readonly kind: "none" | "opening" | "letting go" } | HeldDog;
  /** Whether the Lease may say armed=true, now or after a write that is on its way. True until we know better. */
  readonly mayClaim: boolean;
  readonly inFlight: Claim | undefined;
  /** The last that the API server accepted in this life of the agent. */
  readonly accepted: { readonly claim: Claim; readonly sentAtMs: number } | undefined;
  /** Why the last renewal failed; undefined after one that was accepted. */
  readonly failure: { readonly reason: RenewalFailure; readonly because: string } | undefined;
  readonly sequence: number;
  readonly renewAtMs: number;
  /** Sequence of the renewal whose feed was given: each allows one. */
  readonly fedFor: number;
  /** When the agent's own loop feeds next, where it may. */
  readonly feedAtMs: number;
  /** The last refusal of the device; it is tried again at `retryAtMs`. */
  readonly refusal: Unusable | undefined;
  readonly retryAtMs: number;
  readonly retryDelayMs: number;
  readonly crashes: Crashes;
  readonly leaving: { readonly untilMs: number; readonly triesLeft: number } | undefined;
  readonly ended: boolean;
}

export interface Turn {
  readonly state: State;
  /** In this order; each but renew and report is answered by an event before the next is carried out. */
  readonly commands: readonly Command[];
}

export type Step = (state: State, event: Event, settings: ProtocolSettings) => Turn;
