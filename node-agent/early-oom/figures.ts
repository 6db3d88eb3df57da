/** The figures behind /metrics and /status, as journal.ts keeps them. Values only. */
import type { MemorySample, Shortage } from "./words.ts";

export type KillMode = "userspace" | "kernel" | "dry-run";

/** Read by ops.ts; all since the start. */
export interface Figures {
  readonly sample: MemorySample | undefined;
  readonly shortage: Shortage;
  readonly turns: number;
  /** The last turn that went well, monotonic. */
  readonly turnedAtMs: number | undefined;
  readonly lateMs: { readonly last: number; readonly most: number; readonly sum: number };
  readonly kills: Readonly<Record<KillMode, number>>;
  readonly failedStrikes: number;
  readonly lastKillAt: Date | undefined;
  readonly lastStrike: string | undefined;
  readonly kernelKills: number;
  readonly droppedEvents: number;
  readonly problems: readonly string[];
}
