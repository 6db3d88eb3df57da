/** Reads FENCING_GROUPS: which nodes want another mode than the rest. */
import { FENCING_MODES, type FencingMode } from "../../shared/domain/fencing-lease.ts";
import { parseJson } from "../../shared/domain/parse-json.ts";
import { type Fields, fieldsOf, textsOf } from "./fields.ts";

export interface GroupSetting {
  readonly labels: Readonly<Record<string, string>>;
  readonly mode: FencingMode;
  /** Undefined: as for the nodes of no group. */
  readonly acceptResetOnApiOutage: boolean | undefined;
  readonly acceptNowayout: boolean | undefined;
}

export const GROUPS_FORM = "JSON list of { labels, mode, acceptResetOnApiOutage, acceptNowayout }";
const KEYS = new Set(["labels", "mode", "acceptResetOnApiOutage", "acceptNowayout"]);

/** @throws an error that says what is wrong, and in which group. */
export function readGroups(text: string): readonly GroupSetting[] {
  const list = parseJson(text);
  if (!Array.isArray(list)) throw new Error(`a ${GROUPS_FORM}`);
  return list.map((item: unknown, index) => readGroup(fieldsOf(item), `group ${index + 1}`));
}

function readGroup(fields: Fields, where: string): GroupSetting {
  const unknown = Object.keys(fields).find((key) => !KEYS.has(key));
  if (unknown !== undefined) throw new Error(`${where} without "${unknown}", which is unknown`);
  const labels = textsOf(fields.labels);
  const count = Object.keys(labels).length;
  if (count === 0 || count !== Object.keys(fieldsOf(fields.labels)).length)
    throw new Error(`${where} with labels, at least one, as texts`);
  const mode = FENCING_MODES.find((one) => one === fields.mode);
  if (mode === undefined) throw new Error(`${where} with a mode, one of ${FENCING_MODES.join(", ")}`);
  return {
    labels,
    mode,
    acceptResetOnApiOutage: readSwitch(fields, "acceptResetOnApiOutage", where),
    acceptNowayout: readSwitch(fields, "acceptNowayout", where),
  };
}

function readSwitch(fields: Fields, key: string, where: string): boolean | undefined {
  const value = fields[key];
  if (value === undefined || typeof value === "boolean") return value;
  throw new Error(`${where} with ${key} true or false`);
}
