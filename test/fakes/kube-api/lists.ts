/** Answers list requests: what their selectors select, cut into the pages they ask for. */
import type { LabelMap } from "../../../shared/domain/selector.ts";
import { badRequest } from "./refusal.ts";

interface Listed {
  readonly namespace?: string;
  readonly name: string;
  readonly labels?: LabelMap;
  readonly nodeName?: string | undefined;
}

/** In the order of names. A list from the cache (resourceVersion=0) is never cut. @param namespace empty: of all. */
export function list<T extends Listed>(
  { namespace, query }: { readonly namespace: string; readonly query: URLSearchParams },
  all: readonly T[],
  write: (item: T) => object,
): object {
  const hasLabel = labelFilter(query.get("labelSelector"));
  const isOnNode = nodeFilter(query.get("fieldSelector"));
  const after = query.get("continue") ?? "";
  const rest = all
    .filter((item) => namespace === "" || item.namespace === namespace)
    .filter(({ labels = {}, nodeName }) => hasLabel(labels) && isOnNode(nodeName))
    .filter((item) => keyOf(item) > after)
    .toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  const limit = query.get("resourceVersion") === "0" ? 0 : Number(query.get("limit"));
  const items = limit > 0 ? rest.slice(0, limit) : rest;
  const last = items.at(-1);
  const metadata = last && items.length < rest.length ? { continue: keyOf(last) } : {};
  return { kind: "List", apiVersion: "v1", metadata, items: items.map(write) };
}

/** One `key=value` or `key in (a,b)`. */
function labelFilter(selector: string | null): (labels: LabelMap) => boolean {
  if (selector === null) return () => true;
  const [, key, value, values = value] = /^([^\s=!]+)(?:=([^=,]*)| in \((.+)\))$/.exec(selector) ?? [];
  if (key === undefined || values === undefined) throw badRequest(`unable to parse requirement: ${selector}`);
  const wanted = values.split(",");
  return (labels) => wanted.some((one) => labels[key] === one);
}

function nodeFilter(selector: string | null): (nodeName: string | undefined) => boolean {
  if (selector === null) return () => true;
  const wanted = /^spec\.nodeName=(.+)$/.exec(selector)?.[1];
  if (wanted === undefined) throw badRequest(`field label not supported: ${selector}`);
  return (nodeName) => nodeName === wanted;
}

function keyOf({ namespace = "", name }: Listed): string {
  return `${namespace}/${name}`;
}
