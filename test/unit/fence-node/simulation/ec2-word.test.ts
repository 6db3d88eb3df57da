/** No pod is deleted before its node is dead, where EC2's word is proof: searched, not argued. */
import { expect, test } from "vitest";
import { histories } from "./histories.ts";
import { findNoFault, HISTORIES } from "./search.ts";

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
