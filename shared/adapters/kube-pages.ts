/** Reads a list of the Kubernetes API to its end, page by page: no answer grows without bound, and of each only what is wanted is kept. */
import { ClusterRefused } from "../ports/cluster.ts";

const PAGE_SIZE = 500;
/** 200,000 items: more than the largest cluster has of anything that we list. */
const MAX_PAGES = 400;

interface Page<T> {
  readonly items: T[];
  readonly metadata?: { readonly _continue?: string };
}

/**
 * @param wanted what is kept of an item; undefined where nothing is.
 * @throws ClusterRefused if there are more than 400 pages of 500, and what `ask` throws.
 */
export async function listPages<T, Kept>(
  ask: (page: { limit: number; _continue?: string }) => Promise<Page<T>>,
  wanted: (item: T) => Kept | undefined,
): Promise<readonly Kept[]> {
  const kept: Kept[] = [];
  let next: string | undefined;
  for (let pages = 0; pages < MAX_PAGES; pages++) {
    const page = await ask({ limit: PAGE_SIZE, ...(next !== undefined && { _continue: next }) });
    kept.push(...page.items.map(wanted).filter((one) => one !== undefined));
    next = page.metadata?._continue;
    if (next === undefined || next === "") return kept;
  }
  throw new ClusterRefused(`the list has more than ${MAX_PAGES * PAGE_SIZE} items, which no cluster is known to have`);
}
