/** What is well, or away for a moment only, is left alone: no cordon, and nothing that comes after one. */
import { expect, test } from "vitest";
import { outages, shortPartitions } from "./histories.ts";
import { findNoFault, HISTORIES } from "./search.ts";
import type { World } from "./world.ts";

const count = Math.ceil(HISTORIES / 4);
const traceOf = ({ judge }: World) => (judge.counts.cordoned > 0 ? "a node that was fine was cordoned" : undefined);

test("a node that is cut off for up to 75 s keeps no trace", async () => {
  const { counts } = await findNoFault(shortPartitions, { count, faultOf: traceOf });
  expect(counts.runs).toBeGreaterThan(count);
});

test("an API server that is away for all, for up to five minutes, leaves no trace on anyone", async () => {
  const { counts } = await findNoFault(outages, { count, faultOf: traceOf });
  expect(counts.runs).toBeGreaterThan(count);
});
