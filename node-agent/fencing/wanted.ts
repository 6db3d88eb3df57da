/** What is wanted of a node: the mode by its labels, and rest while somebody works on it. */
import type { FencingMode } from "../../shared/domain/fencing-lease.ts";
import { MAINTENANCE_ANNOTATIONS } from "../../shared/domain/keys.ts";

export interface Wanted {
  readonly mode: FencingMode;
  /** Whether a dog that can't be stopped is accepted. */
  readonly acceptNowayout: boolean;
}

export interface Group extends Wanted {
  /** The Node must have all of them. */
  readonly labels: Readonly<Record<string, string>>;
}

export interface FencingRules extends Wanted {
  /** The first whose labels the Node has wins; the rest of the rules is for Nodes of no group. */
  readonly groups: readonly Group[];
}

type Texts = Readonly<Record<string, string>>;

export function wantedOf(labels: Texts, rules: FencingRules): Wanted {
  const hasAll = (group: Group) => Object.entries(group.labels).every(([key, value]) => labels[key] === value);
  const { mode, acceptNowayout } = rules.groups.find(hasAll) ?? rules;
  return { mode, acceptNowayout };
}

/** The annotation that says so, whatever its value; undefined where nobody works on the node. */
export function maintenanceOf(annotations: Texts): string | undefined {
  return MAINTENANCE_ANNOTATIONS.find((key) => Object.hasOwn(annotations, key));
}
