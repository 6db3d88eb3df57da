/** A node that is dead is fenced in the end, and the simulation leaves out only what changes nothing. */
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { step } from "../../../../node-agent/fencing/state-machine.ts";
import type { State, Step } from "../../../../node-agent/fencing/words.ts";
import { dueAfter } from "./agent-host.ts";
import { DEATH_MS, deaths, histories } from "./histories.ts";
import { findNoFault, HISTORIES } from "./search.ts";
import { SHIPPED, World } from "./world.ts";

const END_MS = DEATH_MS + 900_000;

test("a node that dies for good, with proof to be had, is fenced within a quarter of an hour", async () => {
  const count = Math.ceil(HISTORIES / 10);
  let deadBefore = 0;
  const { counts } = await findNoFault(deaths, {
    count,
    endMs: END_MS,
    faultOf: ({ state, judge, nodes: [node] }) => {
      if (node === undefined || !state.podsOn.has(node.name)) return undefined;
      // One that an earlier trouble has killed may have no proof, as when the agent had ended before its kubelet: proof.ts
      if (judge.livedAt(node.name, DEATH_MS)) return "its pods are still there";
      deadBefore += 1;
      return undefined;
    },
  });
  console.log(`${count} deaths, ${deadBefore} of them earlier and without proof:`, counts);
  expect(deadBefore).toBeLessThan(count / 10);
  expect(counts["fenced by watchdog"]).toBeGreaterThan(count / 10);
  expect(counts["fenced by ec2"]).toBeGreaterThan(count / 10);
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
  expect(leftOut).toBeGreaterThan(500);
});
