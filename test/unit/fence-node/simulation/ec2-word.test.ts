/** No pod is deleted before its node is dead, where EC2's word is proof; and what is well, or away for a moment, is left alone. */
import { expect, test } from "vitest";
import { histories, outages, shortPartitions } from "./histories.ts";
import { findNoFault, HISTORIES } from "./search.ts";
import type { World } from "./world.ts";

const FAMILY = "EC2's word";

test("no pod is deleted before EC2 has ended its node, paused or not, and nothing is done to a node that is heard of", async () => {
  const { counts } = await findNoFault(histories(FAMILY), { count: HISTORIES });
  console.log(`${HISTORIES} histories of ${FAMILY}:`, counts);
  expect(counts["fenced by ec2"]).toBeGreaterThan(HISTORIES / 100);
  expect(counts["fenced by watchdog"]).toBe(0);
  expect(counts.stopped).toBeGreaterThan(0);
  expect(counts.terminated).toBeGreaterThan(0);
  expect(counts.lifted).toBeGreaterThan(0);
});

const traceOf = ({ judge }: World) => (judge.counts.cordoned > 0 ? "a node that was fine was cordoned" : undefined);

test("a node that is cut off for up to 75 s keeps no trace", async () => {
  await findNoFault(shortPartitions, { count: Math.ceil(HISTORIES / 10), faultOf: traceOf });
});

test("an API server that is away for all, for up to five minutes, leaves no trace on anyone", async () => {
  await findNoFault(outages, { count: Math.ceil(HISTORIES / 10), faultOf: traceOf });
});
