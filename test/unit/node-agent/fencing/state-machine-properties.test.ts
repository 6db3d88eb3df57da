/**
 * What must hold whatever happens and in whatever order: lost, late and refused renewals, stalls, crashes, maintenance,
 * a device that fails. The same search must find the faults of agents that are built wrong.
 */
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { step } from "../../../../node-agent/fencing/state-machine.ts";
import type { Step } from "../../../../node-agent/fencing/words.ts";
import { WATCHDOG, World, type WorldOptions } from "./world.ts";

type Trouble = (world: World) => unknown;

const waits = fc.oneof(fc.integer({ min: 100, max: 6_000 }), fc.integer({ min: 0, max: 40_000 }));

/** Named, so that a counterexample can be read. */
function named(name: string, weight: number, trouble: Trouble) {
  return { weight, arbitrary: fc.constant({ name, trouble }) };
}

const troubles = fc.oneof(
  named("yes", 8, (world) => world.answer(1)),
  named("yes to all", 4, (world) => world.answer()),
  named("refused", 2, (world) => world.fail("refused")),
  named("unanswered, lost", 2, (world) => world.fail("unanswered")),
  named("unanswered, late", 3, (world) => world.fail("unanswered", "late")),
  named("unanswered, but applied", 2, (world) => world.fail("unanswered", "applied")),
  named("late writes arrive", 3, (world) => world.carryOutLateWrites()),
  named("maintenance", 2, (world) => world.maintain()),
  named("no maintenance", 3, (world) => world.maintain(false)),
  named("in the group of local nodes", 1, (world) => world.readNode({}, { pool: "soft" })),
  named("look", 2, (world) => world.look()),
  named("SIGTERM", 1, (world) => world.terminate()),
  named("crash", 1, (world) => world.crash().start({ crashes: 1, calmInMs: 60_000 })),
  named("second crash", 1, (world) => world.crash().start({ crashes: 2, calmInMs: 60_000 })),
  named("device busy", 1, (world) => (world.dog.openFails = "busy")),
  named("feeding fails", 1, (world) => (world.dog.feedFails = true)),
  named("device well", 3, (world) => Object.assign(world.dog, { openFails: undefined, feedFails: false })),
  { weight: 8, arbitrary: waits.map((ms) => ({ name: `${ms} ms`, trouble: (world: World) => world.tick(ms) })) },
  // The process is stopped for a while, and what comes next finds it so.
  {
    weight: 2,
    arbitrary: waits.map((ms) => ({ name: `stalled ${ms} ms`, trouble: (world: World) => (world.nowMs += ms) })),
  },
);

const lives = fc.record({
  nowayout: fc.boolean(),
  acceptNowayout: fc.boolean(),
  troubles: fc.array(troubles, { minLength: 1, maxLength: 60 }),
});

function faultsOf(options: WorldOptions) {
  return fc.property(lives, (life) => {
    const { nowayout, acceptNowayout } = life;
    const groups = [{ labels: { pool: "soft" }, mode: "local", acceptNowayout }] as const;
    const world = new World({ rules: { ...WATCHDOG, acceptNowayout, groups }, ...options });
    world.dog.nowayout = nowayout;
    world.start();
    for (const { trouble } of life.troubles) {
      trouble(world);
      // A node that was reset is another life.
      if (world.isReset) break;
    }
    expect(world.faults).toEqual([]);
  });
}

test("armed dogs are fed on fresh renewals only, and a Lease that says armed has a running dog behind it", () => {
  fc.assert(faultsOf({}), { numRuns: 3_000 });
});

test("whatever happened, a healthy node with a healthy API server is armed again within minutes", () => {
  const property = fc.property(lives, (life) => {
    const world = new World({ rules: { ...WATCHDOG, acceptNowayout: true } });
    world.dog.nowayout = life.nowayout;
    world.start();
    for (const { trouble } of life.troubles) {
      trouble(world);
      if (world.isReset) return;
    }
    Object.assign(world.dog, { openFails: undefined, feedFails: false });
    // Who was asked to end has ended by then, and its successor starts.
    world.maintain(false).pass(10);
    if (world.exited) world.crash().start();
    world.pass(700);
    expect(world.isReset).toBe(false);
    expect([world.lease.armed, world.dog.held, world.view.modeInForce]).toEqual([true, true, "watchdog"]);
  });
  fc.assert(property, { numRuns: 300 });
});

test("deciding once more at the same moment asks for nothing more", () => {
  const twice: Step = (state, event, settings) => {
    const turn = step(state, event, settings);
    const again = step(turn.state, { kind: "ticked", nowMs: event.nowMs }, settings);
    expect(again.commands).toEqual([]);
    return turn;
  };
  fc.assert(faultsOf({ step: twice }), { numRuns: 500 });
});

describe("the search finds the faults of", () => {
  /** Changes the commands of the real step. */
  const wrong = (change: (turn: ReturnType<Step>, ...args: Parameters<Step>) => ReturnType<Step>): Step => {
    return (state, event, settings) => change(step(state, event, settings), state, event, settings);
  };
  const feedAlways = { kind: "feed", notAfterMs: undefined } as const;

  test.each<[string, WorldOptions]>([
    [
      "an agent that feeds before it renewed",
      {
        step: wrong((turn, _state, event) =>
          event.kind === "ticked" && turn.state.dog.kind === "held"
            ? { ...turn, commands: [feedAlways, ...turn.commands] }
            : turn,
        ),
      },
    ],
    [
      "an agent that counts a refused connection as an answer",
      {
        step: (state, event, settings) =>
          event.kind === "renewal failed" && event.reason === "unanswered"
            ? step(state, { kind: "renewal accepted", sentAtMs: event.nowMs, nowMs: event.nowMs }, settings)
            : step(state, event, settings),
      },
    ],
    [
      "an agent that says armed before it has the dog",
      {
        step: wrong((turn) => ({
          ...turn,
          commands: turn.commands.map((one) =>
            one.kind === "renew" ? { ...one, claim: { ...one.claim, armed: true } } : one,
          ),
        })),
      },
    ],
    [
      "an agent that stops the dog without a word",
      {
        step: wrong((turn, _state, event) =>
          event.kind === "termination asked" && turn.state.dog.kind === "held"
            ? { ...turn, commands: [{ kind: "disarm" }, ...turn.commands] }
            : turn,
        ),
      },
    ],
    ["writes that aren't bound to the version that was read", { writes: "unconditional" }],
  ])("%s", (_name, options) => {
    expect(fc.check(faultsOf(options), { numRuns: 20_000 }).failed).toBe(true);
  });
});
