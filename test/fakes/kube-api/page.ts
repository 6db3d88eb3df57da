/** Cuts lists of the embedded API into pages, as `limit` and `continue` ask. */

interface Listing<T> {
  readonly kind: string;
  readonly items: readonly T[];
  readonly keyOf: (item: T) => string;
  readonly write: (item: T) => object;
}

/** In the order of keys, as the API server lists: `limit` items after the key that `continue` names. From the cache (resourceVersion=0) a limit is nothing. */
export function page<T>(query: URLSearchParams, { kind, items: unsorted, keyOf, write }: Listing<T>): object {
  const all = unsorted.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  const after = query.get("continue");
  const start = after === null ? 0 : all.findIndex((item) => keyOf(item) > Buffer.from(after, "base64url").toString());
  const rest = start === -1 ? [] : all.slice(start);
  const limit = query.get("resourceVersion") === "0" ? 0 : Number(query.get("limit") ?? 0);
  const items = limit > 0 ? rest.slice(0, limit) : rest;
  const last = items.at(-1);
  const hasMore = last !== undefined && items.length < rest.length;
  const metadata = hasMore ? { continue: Buffer.from(keyOf(last)).toString("base64url") } : {};
  return { kind, apiVersion: "v1", metadata, items: items.map(write) };
}
