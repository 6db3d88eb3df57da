/** Reads a list of the Kubernetes API to its end, page by page, so that no answer grows without bound. */

const PAGE_SIZE = 500;
/** Far beyond any node or namespace we look at: whoever needs more has a fault, not a list. */
const MAX_PAGES = 20;

interface Page<T> {
  readonly items: T[];
  readonly metadata?: { readonly _continue?: string };
}

/** @throws if there are more than 20 pages of 500. */
export async function listPages<T>(
  ask: (page: { limit: number; _continue?: string }) => Promise<Page<T>>,
): Promise<T[]> {
  const items: T[] = [];
  let next: string | undefined;
  for (let pages = 0; pages < MAX_PAGES; pages++) {
    const page = await ask({ limit: PAGE_SIZE, ...(next !== undefined && { _continue: next }) });
    items.push(...page.items);
    next = page.metadata?._continue;
    if (next === undefined || next === "") return items;
  }
  throw new Error(`more than ${MAX_PAGES * PAGE_SIZE} items`);
}
