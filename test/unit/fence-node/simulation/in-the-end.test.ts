/** A node that is dead is fenced in the end, and the simulation leaves out only what changes nothing. */
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { step } from "../../../../node-agent/fencing/state-machine.ts";
import type { State, Step } from "../../../../node-agent/fencing/words.ts";
import { dueAfter } from "./agent-host.ts";
import { deaths, histories } from "./histories.ts";
import { findNoFault, HISTORIES } from "./search.ts";
import { SHIPPED, World } from "./world.ts";

const END_MS = 1_400_000;

test("a node that dies for good, with proof to be had, is fenced within a quarter of an hour", async () => {
  const { counts } = await findNoFault(deaths, {
    count: Math.ceil(HISTORIES / 10),
    endMs: END_MS,
    faultOf: ({ state, nodes: [node] }) =>
      node && state.podsOn.has(node.name) ? "its pods are still there" : undefined,
  });
  expect(counts["fenced by watchdog"]).toBeGreaterThan(0);
  expect(counts["fenced by ec2"]).toBeGreaterThan(0);
});

test("ticks of the agent that are left out would have changed nothing", async () => {
  let leftOut = 0;
  const times = new WeakMap<State, number>();
  const watched: Step = (state, event, settings) => {
    const turn = step(state, event, settings);
    const lastMs = times.get(state);
    if (event.kind === "ticked" && lastMs !== undefined && event.nowMs < dueAfter(state, lastMs)) {
      expect(turn.commands).toEqual([]);
      expect(turn.state).toEqual(state);
      leftOut += 1;
    }
    times.set(turn.state, event.nowMs);
    return turn;
  };
  const property = fc.asyncProperty(histories("time rule"), async (history) => {
    await new World(history, { ...SHIPPED, step: watched, isDense: true }).live();
  });
  await fc.assert(property, { numRuns: 10, seed: 7 });
  expect(leftOut).toBeGreaterThan(1_000);
});
