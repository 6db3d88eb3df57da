/** What people and monitoring read of the agent. */
import { afterEach, expect, test } from "vitest";
import { countEvent, NO_COUNTS } from "../../../../node-agent/fencing/counts.ts";
import { pagesOf } from "../../../../node-agent/fencing/pages.ts";
import { askStatus } from "../../../../node-agent/fencing/status.ts";
import { type OpsServer, serveOps } from "../../../../node-agent/ops-server.ts";
import { World } from "./world.ts";

let server: OpsServer | undefined;
afterEach(() => server?.close());

function pages(world: World, lastTickMs = world.nowMs) {
  return pagesOf({
    settings: world.settings,
    state: () => world.agent.state,
    counts: () => countEvent(NO_COUNTS, { kind: "fed", nowMs: 0 }),
    lastTickMs: () => lastTickMs,
    nowMs: () => world.nowMs,
    nodeName: "node-1",
    agent: "agent-1",
  });
}

async function status(world: World) {
  server = await serveOps(0, pages(world));
  return askStatus(server.port);
}

test("metrics tell what is armed, wanted and in force", () => {
  const text = pages(new World().start().pass(6))["/metrics"]?.().body;
  for (const line of [
    "fencing_agent_armed 1",
    'fencing_agent_mode_wanted{mode="watchdog"} 1',
    'fencing_agent_mode_in_force{mode="watchdog"} 1',
    "fencing_agent_watchdog_timeout_seconds 60",
    'fencing_agent_device_problem{problem="busy"} 0',
    'fencing_agent_feeds_total{result="fed"} 1',
    "fencing_agent_recent_crashes 0",
  ])
    expect(text).toContain(`${line}\n`);
});

test("healthy is an agent whose loop turns, with or without an API server", () => {
  const world = new World().start();
  expect(pages(world)["/healthz"]?.().status).toBe(200);
  expect(pages(world, world.nowMs - 20_000)["/healthz"]?.()).toMatchObject({ status: 503 });
});

test("status of an armed node ends with 0", async () => {
  const { text, exitCode } = await status(new World().start().pass(6));
  expect(exitCode).toBe(0);
  expect(text).toMatch(/^mode: +watchdog \(wanted: watchdog\)$/m);
  expect(text).toMatch(/^armed: +yes$/m);
});

test("status under maintenance ends with 0 and says why there is no dog", async () => {
  const { text, exitCode } = await status(new World().start().pass(6).maintain().pass(6));
  expect(exitCode).toBe(0);
  expect(text).toMatch(/^maintenance: +nodekeeper.dev\/paused$/m);
});

test("status ends with 1 where the device is busy", async () => {
  const world = new World();
  world.dog.openFails = "busy";
  const { text, exitCode } = await status(world.start().pass(6));
  expect(exitCode).toBe(1);
  expect(text).toMatch(/^problem: +busy$/m);
});

test("status ends with 1 where renewals fail, and 3 where nobody answers", async () => {
  const { text, exitCode } = await status(new World().start().fail("unanswered"));
  expect(exitCode).toBe(1);
  expect(text).toMatch(/^renewals fail: +unanswered$/m);
  server?.close();
  expect(await askStatus(1)).toMatchObject({ exitCode: 3, text: expect.stringContaining("127.0.0.1:1") });
});
