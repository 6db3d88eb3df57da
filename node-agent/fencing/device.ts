/**
 * What the agent asks of a watchdog. Calls are short and answer at once, so that no time passes between a decision and
 * its deed. `linux-watchdog.ts` is the kernel's; tests have theirs.
 */

/** A dog as sysfs describes it, whether or not somebody holds it. */
export interface Dog {
  /** W: whole seconds without a ping until the node is reset. */
  readonly timeoutSeconds: number;
  /** Once started it can't be stopped: https://docs.kernel.org/watchdog/watchdog-api.html */
  readonly nowayout: boolean;
}

/** Why there is no dog, for metrics: few values. */
export type DeviceProblem =
  | "missing"
  | "not a character device"
  | "no sysfs"
  | "busy"
  | "inactive"
  | "nowayout"
  | "timeout too short"
  | "failed";

export interface Unusable {
  readonly problem: DeviceProblem;
  readonly because: string;
}

export type DeviceSight =
  | ({ readonly kind: "present"; readonly running: boolean } & Dog)
  | ({ readonly kind: "absent" } & Unusable);

export type Opening = ({ readonly kind: "opened" } & Dog) | ({ readonly kind: "refused" } & Unusable);

export interface WatchdogDevice {
  /** Without opening: opening starts it. */
  look(): DeviceSight;
  /** Starts the dog, or takes over one that runs unattended; "refused" leaves nothing open. */
  open(wanted: { readonly acceptNowayout: boolean }): Opening;
  /** Undefined if the kernel took it, else why not. */
  feed(): string | undefined;
  /** The magic close, which stops the dog unless it is nowayout. Gives whether it still runs. */
  disarm(): boolean;
  /** Closes without the magic: the kernel pings once, and the dog runs on for W. */
  abandon(): void;
}
