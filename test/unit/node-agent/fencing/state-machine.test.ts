/** The protocol as an operator would tell it: what the agent does in which order, in each mode and in each trouble. */
import { describe, expect, test } from "vitest";
import { step } from "../../../../node-agent/fencing/state-machine.ts";
import type { FencingRules } from "../../../../node-agent/fencing/wanted.ts";
import { World } from "./world.ts";

const LOCAL: FencingRules = { mode: "local", acceptNowayout: false, groups: [] };
const NOTIFY: FencingRules = { mode: "notify", acceptNowayout: false, groups: [] };

function armed(options: ConstructorParameters<typeof World>[0] = {}, nowayout = false): World {
  const world = new World(options);
  world.dog.nowayout = nowayout;
  world.start().pass(6);
  expect(world.dog.held).toBe(true);
  world.done = [];
  world.reports = [];
  return world;
}

describe("mode watchdog", () => {
  test("it says disarmed, starts the dog, and only then says armed", () => {
    const world = new World().start();
    expect(world.done).toEqual(["claim notify"]);
    world.answer();
    expect(world.done).toEqual(["claim notify", "open", "feed", "claim watchdog armed", "feed"]);
    expect(world.lease.armed).toBe(true);
  });

  test("nothing is opened while no renewal was accepted, however long that takes", () => {
    const world = new World().start();
    for (let second = 0; second < 300; second += 1) world.fail("unanswered").tick(1_000);
    expect(world.done.filter((one) => !one.startsWith("claim"))).toEqual([]);
  });

  test("each accepted renewal gives one feed", () => {
    const world = armed().pass(60);
    expect(world.done.filter((one) => one === "feed").length).toBe(12);
    expect(world.isReset).toBe(false);
  });

  test.each(["refused", "unanswered", "conflict"] as const)(
    "a renewal that is %s gives no feed, and the node is reset",
    (reason) => {
      const world = armed();
      for (let second = 0; second < 61; second += 1) world.fail(reason).tick(1_000);
      expect(world.done).not.toContain("feed");
      expect(world.isReset).toBe(true);
      expect(world.reports.map(({ message }) => message)).toEqual(["renewals fail"]);
    },
  );

  test("a renewal that was accepted more than G after it was sent gives no feed", () => {
    const world = armed().tick(5_000);
    world.nowMs += 10_001;
    world.answer();
    expect(world.done).toEqual(["claim watchdog armed", "claim watchdog armed", "feed"]);
    expect(world.dog.pingedAtMs).toBe(world.nowMs);
    expect(world.reports.at(0)).toMatchObject({ message: "renewal was accepted too late to feed on it" });
  });

  test("a process that was stopped between decision and feed doesn't feed", () => {
    let stall = () => {};
    const world = armed({
      step: (state, event, settings) => {
        const turn = step(state, event, settings);
        if (turn.commands.some(({ kind }) => kind === "feed")) stall();
        return turn;
      },
    });
    stall = () => {
      world.nowMs += 10_001;
    };
    world.tick(5_000);
    const { pingedAtMs } = world.dog;
    world.answer();
    expect(world.dog.pingedAtMs).toBe(pingedAtMs);
    expect(world.reports).toContainEqual(
      expect.objectContaining({
        level: "error",
        message: "feeding was skipped: the renewal had become too old",
      }),
    );
  });

  test("a write that comes late never lies over a newer one", () => {
    const world = armed().tick(5_000).fail("unanswered", "late").maintain().pass(8);
    expect(world.dog.running).toBe(false);
    world.carryOutLateWrites();
    expect(world.lease.armed).toBe(false);
    expect(world.faults).toEqual([]);
  });

  test("a write that came late, but before the next one, is seen and written over before the dog is stopped", () => {
    const world = new World().start().answer(1);
    expect(world.inFlight?.claim.armed).toBe(true);
    world.fail("unanswered", "late").maintain().tick(5_000).carryOutLateWrites();
    expect([world.lease.armed, world.dog.held]).toEqual([true, true]);
    world.pass(6);
    expect([world.lease.armed, world.dog.held]).toEqual([false, false]);
    expect(world.faults).toEqual([]);
  });
});

describe("maintenance", () => {
  test("says disarmed, stops the dog, and arms again when it is over", () => {
    const world = armed().maintain();
    expect(world.done).toEqual(["claim notify"]);
    world.answer();
    expect(world.done.slice(1, 3)).toEqual(["disarm", "claim notify"]);
    expect(world.view).toMatchObject({
      modeInForce: "notify",
      problem: undefined,
      maintenance: "nodekeeper.dev/paused",
    });
    world.maintain(false).pass(6);
    expect([world.lease.armed, world.dog.held, world.faults]).toEqual([true, true, []]);
  });

  test("doesn't stop the dog while the API server hasn't accepted that it is disarmed", () => {
    const world = armed().maintain();
    for (let second = 0; second < 30; second += 1) world.fail("refused").tick(1_000);
    expect(world.done).not.toContain("disarm");
  });

  test("is remembered while the Node can't be read", () => {
    const world = armed().maintain().pass(3);
    world.agent.happen({ kind: "node unread", because: "timed out" });
    world.pass(60);
    expect([world.dog.held, world.view.maintenance]).toEqual([false, "nodekeeper.dev/paused"]);
  });

  test("keeps feeding a dog that can't be stopped, disarmed in the Lease, with or without the API server", () => {
    const world = new World({ rules: { mode: "watchdog", acceptNowayout: true, groups: [] } });
    world.dog.nowayout = true;
    world.start().pass(6).maintain().pass(3);
    expect([world.lease.armed, world.dog.held]).toEqual([false, true]);
    for (let second = 0; second < 300; second += 1) world.fail("unanswered").tick(1_000);
    expect([world.isReset, world.faults]).toEqual([false, []]);
    world.maintain(false).pass(10);
    expect([world.lease.armed, world.dog.held]).toEqual([true, true]);
  });
});

describe("mode local", () => {
  test("feeds by its own loop, so that an API outage resets nothing", () => {
    const world = armed({ rules: LOCAL });
    for (let second = 0; second < 600; second += 1) world.fail("unanswered").tick(1_000);
    expect([world.isReset, world.lease.armed]).toEqual([false, false]);
    expect(world.view).toMatchObject({ modeInForce: "local", dogHeld: true });
  });

  test("resets a node whose agent no longer runs", () => {
    const world = armed({ rules: LOCAL });
    world.nowMs += 70_000;
    expect(world.isReset).toBe(true);
  });

  test("is entered from watchdog without a feed on old renewals", () => {
    const groups = [{ labels: { pool: "soft" }, mode: "local", acceptNowayout: false }] as const;
    const world = armed({ rules: { mode: "watchdog", acceptNowayout: false, groups } });
    world.readNode({}, { pool: "soft" });
    expect(world.done).toEqual(["claim local"]);
    world.fail("unanswered").tick(20_000);
    expect(world.done).not.toContain("feed");
    world.answer().tick(5_000);
    expect(world.done).toContain("feed");
    world.readNode({}, {}).answer();
    expect([world.lease.armed, world.view.modeInForce, world.faults]).toEqual([true, "watchdog", []]);
  });
});

describe("mode notify", () => {
  test("renews, and touches no dog", () => {
    const world = new World({ rules: NOTIFY }).start().pass(60);
    expect(new Set(world.done)).toEqual(new Set(["claim notify"]));
  });

  test("stops a dog that was left running, since it would reset a healthy node", () => {
    const world = new World({ rules: NOTIFY });
    Object.assign(world.dog, { running: true, pingedAtMs: world.nowMs });
    world.start().pass(6);
    expect(world.done.slice(0, 4)).toEqual(["claim notify", "open", "disarm", "claim notify"]);
    expect([world.dog.running, world.faults]).toEqual([false, []]);
  });
});

describe("a device that can't be used leaves the node in notify, said once and tried again", () => {
  test.each([
    ["missing", { openFails: "missing" }],
    ["busy", { openFails: "busy" }],
    ["inactive", { openFails: "inactive" }],
    ["nowayout", { nowayout: true }],
    ["timeout too short", { timeoutSeconds: 29 }],
  ] as const)("%s", (problem, dog) => {
    const world = new World();
    Object.assign(world.dog, dog);
    world.start().pass(60);
    expect(world.view).toMatchObject({ modeWanted: "watchdog", modeInForce: "notify", problem });
    expect(world.lease.armed).toBe(false);
    const errors = world.reports.filter(({ level }) => level === "error");
    expect(errors.map(({ message, facts }) => [message, facts.problem])).toEqual([
      ["fencing is not in force as wanted", problem],
    ]);
    Object.assign(world.dog, { openFails: undefined, nowayout: false, timeoutSeconds: 60 });
    world.pass(120);
    expect([world.lease.armed, world.faults]).toEqual([true, []]);
  });

  test("a timeout that is too short is refused with the arithmetic", () => {
    const world = new World();
    world.dog.timeoutSeconds = 29;
    world.start().pass(3);
    expect(world.view.because).toBe("W = 29 s is too short: at least 2 x (G 10 s + interval 5 s) = 30 s is needed");
    expect(world.done).not.toContain("open");
  });

  test("it is tried again at growing distances", () => {
    const world = new World();
    world.dog.openFails = "busy";
    world.start().pass(600);
    const tries = world.done.filter((one) => one === "open").length;
    expect(tries).toBeGreaterThan(4);
    expect(tries).toBeLessThan(9);
  });

  test("a dog that takes no food is no longer claimed, then let go", () => {
    const world = armed();
    world.dog.feedFails = true;
    world.pass(6);
    expect([world.lease.armed, world.dog.held]).toEqual([false, false]);
    expect([world.view.problem, world.faults]).toEqual(["failed", []]);
    world.dog.feedFails = false;
    world.pass(30);
    expect([world.lease.armed, world.dog.held]).toEqual([true, true]);
  });
});

test("a dog that can't be stopped and took no food is armed again when it does, without being let go", () => {
  const world = armed({ rules: { mode: "watchdog", acceptNowayout: true, groups: [] } }, true);
  world.dog.feedFails = true;
  world.pass(6);
  expect([world.lease.armed, world.dog.held, world.view.problem]).toEqual([false, true, "failed"]);
  world.pass(30);
  expect(world.lease.armed).toBe(false);
  world.dog.feedFails = false;
  world.pass(10);
  expect([world.lease.armed, world.view.problem, world.isReset, world.faults]).toEqual([true, undefined, false, []]);
  expect(world.done).not.toContain("disarm");
});

describe("crashes", () => {
  test("after one, the next process takes the running dog over before it bites", () => {
    const world = armed().crash();
    world.nowMs += 20_000;
    world.start().pass(6);
    expect(world.done).not.toContain("disarm");
    expect([world.lease.armed, world.dog.held, world.isReset, world.faults]).toEqual([true, true, false, []]);
  });

  test("after two, it says disarmed, stops the dog that runs and stays in notify until it was calm", () => {
    const world = armed().crash();
    world.start({ crashes: 2, calmInMs: 600_000 }).pass(590);
    expect(world.done.slice(0, 4)).toEqual(["claim notify", "open", "disarm", "claim notify"]);
    expect([world.lease.armed, world.dog.running, world.faults]).toEqual([false, false, []]);
    world.pass(20);
    expect(world.lease.armed).toBe(true);
  });

  test("while they can't be counted no dog is held", () => {
    const world = new World();
    world.agent.happen({ kind: "crashes unknown", because: "read-only file system" });
    world.look().readNode().tick().pass(30);
    expect(world.view).toMatchObject({ modeInForce: "notify", because: expect.stringContaining("read-only") });
    world.agent.happen({ kind: "crashes counted", crashes: 0, calmInMs: 0 });
    world.pass(3);
    expect(world.lease.armed).toBe(true);
  });
});

describe("SIGTERM", () => {
  test("with the API server up: says disarmed, stops the dog, ends", () => {
    const world = armed().terminate().answer();
    expect(world.done).toEqual(["claim notify", "disarm", "exit"]);
    expect([world.dog.running, world.faults]).toEqual([false, []]);
  });

  test("with the API server down: after three tries it leaves the dog running for the next process", () => {
    const world = armed().terminate();
    for (let second = 0; second < 30; second += 1) world.fail("unanswered").tick(1_000);
    expect(world.done).toEqual(["claim notify", "claim notify", "claim notify", "abandon", "exit"]);
    expect([world.dog.running, world.isReset]).toEqual([true, false]);
  });

  test("with an API server that never answers: at the end of its time it does the same", () => {
    const world = armed().terminate();
    for (let second = 0; second < 30; second += 1) world.tick(1_000);
    expect(world.done).toEqual(["claim notify", "abandon", "exit"]);
  });

  test("waits for the renewal that is on its way before it says disarmed", () => {
    const world = armed().tick(5_000).terminate();
    expect(world.done).toEqual(["claim watchdog armed"]);
    world.answer();
    expect(world.done).toEqual(["claim watchdog armed", "feed", "claim notify", "disarm", "exit"]);
  });

  test("a dog that can't be stopped is closed with a last ping", () => {
    const world = new World({ rules: { mode: "watchdog", acceptNowayout: true, groups: [] } });
    world.dog.nowayout = true;
    world.start().pass(6);
    world.done = [];
    world.terminate().answer();
    expect(world.done).toEqual(["claim notify", "abandon", "exit"]);
  });

  test("mode local needs no API server for it", () => {
    expect(armed({ rules: LOCAL }).terminate().done).toEqual(["disarm", "exit"]);
  });

  test("without a dog it ends at once, and nothing happens after that", () => {
    const world = new World({ rules: NOTIFY }).start().terminate();
    expect(world.done).toEqual(["claim notify", "exit"]);
    world.agent.happen({ kind: "ticked" });
    world.agent.happen({ kind: "renewal accepted", sentAtMs: world.nowMs });
    expect(world.done).toEqual(["claim notify", "exit"]);
  });
});
