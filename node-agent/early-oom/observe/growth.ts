/** By how much each container's working set grew, from one walk to the next. */
import type { ContainerMemory } from "../words.ts";

/** A container without its growth. */
export type Holding = Omit<ContainerMemory, "growthBytes">;

/** Figures closer together would show chance: a strike's own walk may follow another within milliseconds. */
const MIN_APART_MS = 1_000;

interface Figures {
  readonly atMs: number;
  readonly bytes: ReadonlyMap<string, number>;
}

/**
 * Compares with the youngest walk that is at least a second old. A container that wasn't there then grew from nothing;
 * on the first walk of all nobody is known to grow.
 */
export function createGrowth(): (holdings: readonly Holding[], atMs: number) => readonly ContainerMemory[] {
  let older: Figures | undefined;
  let newer: Figures | undefined;
  return (holdings, atMs) => {
    const before = newer && atMs - newer.atMs >= MIN_APART_MS ? newer : older;
    if (newer === undefined || before === newer) {
      older = newer;
      newer = { atMs, bytes: new Map(holdings.map(({ cgroup, workingSetBytes }) => [cgroup, workingSetBytes])) };
    }
    return holdings.map((holding) => {
      const growthBytes = before ? holding.workingSetBytes - (before.bytes.get(holding.cgroup) ?? 0) : 0;
      return { ...holding, growthBytes };
    });
  };
}
