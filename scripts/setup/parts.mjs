/** Writes down where the programs are, for test/rig/parts.ts to read. */
import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { REPOSITORY } from "./command.mjs";

const PARTS_FILE = join(REPOSITORY, "node_modules/.cache/nodekeeper/parts.json");

export function recordParts(pythons, { found, missing }) {
  const parts = { v: 1, programs: { ...found, ...pythons }, missing };
  const partial = `${PARTS_FILE}.${process.pid}`;
  mkdirSync(dirname(PARTS_FILE), { recursive: true });
  writeFileSync(partial, JSON.stringify(parts, undefined, 2));
  // Readers see the old note or the new one, never half of it.
  renameSync(partial, PARTS_FILE);
}
