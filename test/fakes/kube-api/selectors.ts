/** Reads the selectors of a list request: labels by equality or `in`, fields by the few names that are asked for. */
import type { LabelMap } from "../../../shared/domain/selector.ts";
import { badRequest } from "./refusal.ts";

/** `key=value`, `key in (a,b)`, joined by commas; nothing selects everything. */
export function labelFilter(selector: string | undefined): (labels: LabelMap) => boolean {
  const requirements = splitRequirements(selector ?? "").map(readRequirement);
  return (labels) => requirements.every(({ key, values }) => values.includes(labels[key] ?? ""));
}

function splitRequirements(selector: string): readonly string[] {
  return selector.split(/,(?![^(]*\))/).filter((part) => part !== "");
}

function readRequirement(text: string): { key: string; values: readonly string[] } {
  const inSet = /^(\S+) in \(([^)]*)\)$/.exec(text);
  if (inSet) return { key: inSet[1] ?? "", values: (inSet[2] ?? "").split(",") };
  const equal = /^([^=!]+)==?(.*)$/.exec(text);
  if (equal) return { key: equal[1] ?? "", values: [equal[2] ?? ""] };
  throw badRequest(`unable to parse requirement: ${text}`);
}

/** The node that `spec.nodeName=…` names, or undefined without a field selector. */
export function nodeNameOf(fieldSelector: string | undefined): string | undefined {
  if (fieldSelector === undefined) return undefined;
  const name = /^spec\.nodeName=(.*)$/.exec(fieldSelector)?.[1];
  if (name === undefined) throw badRequest(`field label not supported: ${fieldSelector}`);
  return name;
}
