/** What the story works with: ports bound to one invocation, and the little that a process remembers between two. */
import type { ClusterNode } from "../../shared/domain/node.ts";
import type { Policy } from "../../shared/domain/policy.ts";
import type { Signal } from "../../shared/domain/signal.ts";
import type { Clock } from "../../shared/ports/clock.ts";
import type { Cluster } from "../../shared/ports/cluster.ts";
import type { Instances } from "../../shared/ports/instances.ts";
import type { Note } from "./facts.ts";

export interface DrainTools {
  readonly cluster: Cluster;
  readonly instances: Instances;
  readonly clock: Clock;
  readonly policy: Policy;
  readonly clusterName: string;
  readonly note: Note;
  readonly memory: Memory;
  /** Aborted when the invocation's time is nearly over. */
  readonly timeBudget: AbortSignal;
}

/** Facts of a signal's drain are noted with the signal. */
export function toolsFor(signal: Signal, tools: DrainTools): DrainTools {
  return { ...tools, note: (fact) => tools.note(fact, signal) };
}

const NODES_KEPT_MS = 3_000;
const FOREIGN_KEPT_MS = 300_000;
const FOREIGN_KEPT_AT_MOST = 1_000;

/** Kept between invocations of one process: the last list of all nodes, and which instances are foreign. */
export class Memory {
  #nodes: { readonly until: number; readonly list: readonly ClusterNode[] } | undefined;
  readonly #foreign = new Map<string, number>();

  async nodes(now: Date, list: () => Promise<readonly ClusterNode[]>): Promise<readonly ClusterNode[]> {
    if (this.#nodes && now.getTime() < this.#nodes.until) return this.#nodes.list;
    const fresh = await list();
    this.#nodes = { until: now.getTime() + NODES_KEPT_MS, list: fresh };
    return fresh;
  }

  isForeign(instanceId: string, now: Date): boolean {
    return now.getTime() < (this.#foreign.get(instanceId) ?? 0);
  }

  rememberForeign(instanceId: string, now: Date): void {
    const oldest = this.#foreign.keys().next().value;
    if (this.#foreign.size >= FOREIGN_KEPT_AT_MOST && oldest !== undefined) this.#foreign.delete(oldest);
    this.#foreign.set(instanceId, now.getTime() + FOREIGN_KEPT_MS);
  }
}
