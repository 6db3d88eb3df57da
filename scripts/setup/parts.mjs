/** Writes down where the programs are, for test/rig/parts.ts to read. */
import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { REPOSITORY } from "./command.mjs";

const PARTS_FILE = join(REPOSITORY, "node_modules/.cache/nodekeeper/parts.json");

/** `programs` are absolute paths by name, and `missing` reasons by name. */
export function recordParts(programs, missing) {
  const partial = `${PARTS_FILE}.${process.pid}`;
  mkdirSync(dirname(PARTS_FILE), { recursive: true });
  writeFileSync(partial, JSON.stringify({ v: 1, programs, missing }, undefined, 2));
  // Readers see the old note or the new one, never half of it.
  renameSync(partial, PARTS_FILE);
}
