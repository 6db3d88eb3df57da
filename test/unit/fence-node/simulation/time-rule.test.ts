/** No pod is deleted before its node is dead, where a dog that must have barked is proof: searched, not argued. */
import { expect, test } from "vitest";
import { histories, kindsIn, latestFeeds } from "./histories.ts";
import { findFault, findNoFault, HISTORIES } from "./search.ts";
import type { Shipped } from "./world.ts";
import {
  claimsTooMuch,
  feedsBeforeItRenewed,
  feedsByQuorum,
  fenceByLeaseAge,
  takesRefusalForAnAnswer,
} from "./wrong-variants.ts";

const FAMILY = "time rule";

test("no pod is deleted before the dog has reset its node, and nothing is done to a node that is heard of", async () => {
  const { counts } = await findNoFault(histories(FAMILY), { count: HISTORIES });
  console.log(`${HISTORIES} histories of the ${FAMILY}:`, counts);
  expect(counts["fenced by watchdog"]).toBeGreaterThan(HISTORIES / 50);
  expect(counts["fenced by ec2"]).toBeGreaterThan(0);
  expect(counts["reset by the dog"]).toBeGreaterThan(HISTORIES / 10);
  expect(counts.lifted).toBeGreaterThan(0);
});

/** Nodes whose clocks are right: an age by the node's own clock would be found wrong too soon. */
const rightClocks = kindsIn(FAMILY).filter((kind) => kind !== "wall clock steps");
/** What makes T_safe a minute shorter; a policy that was parsed can't have it. */
const aMinuteLess = (marginSeconds: number) => ({ marginSeconds: marginSeconds - 60 });
/** Each must be found within that many histories. */
const WITHIN = 20_000;

interface Wrong {
  readonly name: string;
  readonly variant: Partial<Shipped>;
  readonly kinds?: ReturnType<typeof kindsIn>;
}

test.each<Wrong>([
  { name: "a Lease of 60 s beside a dog of 60 s", variant: { story: fenceByLeaseAge }, kinds: rightClocks },
  { name: "an agent that feeds before it renewed", variant: { step: feedsBeforeItRenewed } },
  { name: "an agent that takes a refused connection for an answer", variant: { step: takesRefusalForAnAnswer } },
  { name: "a quorum that feeds without renewals", variant: { step: feedsByQuorum } },
  { name: "an agent that says armed without a dog", variant: { step: claimsTooMuch } },
  {
    name: "a T_safe without the ping of an agent that crashes",
    variant: { fencing: aMinuteLess(5) },
    kinds: ["cut off", "agent crashes"],
  },
  { name: "guests that are paused", variant: {}, kinds: [...kindsIn(FAMILY), "paused", "paused"] },
])("the search finds a pod deleted before its node was dead, for $name", async ({ name, variant, kinds }) => {
  const { inHistory, fault } = await findFault(histories(FAMILY, kinds), variant, WITHIN);
  console.log(`${name}: found in history ${inHistory}: ${fault}`);
  expect(inHistory).toBeGreaterThan(0);
});

test("T_safe by the bound 3W outlasts the latest feed and the ping of a crash, and the bound G+2W doesn't", async () => {
  const { counts } = await findNoFault(latestFeeds, { count: Math.ceil(HISTORIES / 10) });
  expect(counts["fenced by watchdog"]).toBeGreaterThan(0);
  const { inHistory } = await findFault(latestFeeds, { fencing: { bound: "G+2W" } }, WITHIN);
  console.log(`the bound G+2W, where a feed may hang: found in history ${inHistory}`);
  expect(inHistory).toBeGreaterThan(0);
});
