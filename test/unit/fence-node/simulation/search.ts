/** Searches many histories for a fault, and counts what happened in them: a search in which nothing happens finds nothing. */
import * as fc from "fast-check";
import type { History } from "./histories.ts";
import { ALIVE, COUNTED, type Counts, noCounts } from "./judge.ts";
import { SHIPPED, type Shipped, World } from "./world.ts";

/**
 * How many histories are lived through: few where the search is only to be known to work; the proof (vitest project
 * `proof`) asks for many.
 */
export const HISTORIES = Number(process.env.FENCING_HISTORIES ?? 200);
/**
 * The same histories each time, so that a test that fails was broken by a change; others by any other number. What the
 * search prints with a fault is a seed to be given here.
 */
const seed = Number(process.env.FENCING_SEED ?? 20_260_101);

export interface Search {
  readonly histories: number;
  /** Of all histories together. */
  readonly counts: Counts;
}

interface Wanted {
  readonly count: number;
  /** What is wrong with a world that was lived through, beside what its judge says. */
  readonly faultOf?: (world: World) => string | undefined;
  readonly endMs?: number;
}

/** @throws with the history, made as short as possible, what happened in it, and the seed. */
export async function findNoFault(histories: fc.Arbitrary<History>, wanted: Wanted): Promise<Search> {
  const counts = noCounts();
  let lived = 0;
  const property = fc.asyncProperty(histories, async (history) => {
    const world = await new World(history).live(wanted.endMs);
    lived += 1;
    for (const key of COUNTED) counts[key] += world.judge.counts[key];
    const faults = [...faultsOf(world), wanted.faultOf?.(world)].filter((fault) => fault !== undefined);
    if (faults.length > 0) throw new Error([...faults, ...world.judge.story].join("\n"));
  });
  await fc.assert(property, { numRuns: wanted.count, seed });
  return { histories: lived, counts };
}

export interface Found {
  /** The how manyth history it was; undefined where none had a fault. */
  readonly inHistory: number | undefined;
  readonly fault: string;
}

/** The first pod that a wrong variant lets go before its node was dead. */
export async function findFault(
  histories: fc.Arbitrary<History>,
  variant: Partial<Shipped>,
  count: number,
): Promise<Found> {
  let fault = "none";
  const property = fc.asyncProperty(histories, async (history) => {
    const { judge } = await new World(history, { ...SHIPPED, ...variant }).live();
    const found = judge.faults.find((one) => one.includes(ALIVE));
    fault = found ?? fault;
    return found === undefined;
  });
  const found = await fc.check(property, { numRuns: count, endOnFailure: true, seed });
  return { inHistory: found.failed ? found.numRuns : undefined, fault };
}

function faultsOf({ judge, scheduler }: World): readonly string[] {
  const errors = scheduler.errors.map((error) => (error instanceof Error ? (error.stack ?? error.message) : "unknown"));
  return [...judge.faults, ...errors.map((error) => `a run threw ${error}`)];
}
