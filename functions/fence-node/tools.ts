/** What the story works with: ports bound to one invocation, and the little that a process remembers between two. */
import type { Policy } from "../../shared/domain/policy.ts";
import type { Clock } from "../../shared/ports/clock.ts";
import type { FencingCluster } from "../../shared/ports/fencing-cluster.ts";
import type { StoppableInstances } from "../../shared/ports/instances.ts";
import type { Note } from "./facts.ts";

export interface FenceTools {
  readonly cluster: FencingCluster;
  readonly instances: StoppableInstances;
  readonly clock: Clock;
  readonly policy: Policy;
  readonly note: Note;
  readonly memory: Memory;
  /** Names this run in the observations, for people. */
  readonly holder: string;
  /** Aborted when the invocation's time is nearly over. */
  readonly timeBudget: AbortSignal;
  /** When that is. */
  readonly endsAt: Date;
}

/** Kept between invocations of one process: a failure that couldn't be written down is remembered here at least. */
export class Memory {
  failedAt: Date | undefined;
}
