/** Fencing on a real kernel: what a node lives through, how it is disarmed, and what it does about a dog it can't have. */
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { PAUSED_ANNOTATION } from "../../shared/domain/keys.ts";
import { describeReal } from "../rig/real-parts.ts";
import {
  type FencingNode,
  G_SECONDS,
  LIFE_MILLISECONDS,
  LOCAL_MODE,
  LONG_W_SECONDS,
  RESET,
  SOFTDOG,
  softdog,
  W_SECONDS,
  WATCHDOG_MODE,
} from "../support/guest/fencing-node.ts";
import { type FencingSuite, startFencingSuite } from "../support/guest/fencing-suite.ts";

const ARMED = { mode: "watchdog", armed: true, watchdogTimeoutSeconds: W_SECONDS } as const;
const DISARMED = { mode: "notify", armed: false, watchdogTimeoutSeconds: undefined } as const;
const LATE_MS = 10_000;

vi.setConfig({ testTimeout: LIFE_MILLISECONDS });

describeReal("a node with a fencing-agent", ["control plane", "guest"], () => {
  let suite: FencingSuite;
  beforeAll(async () => {
    suite = await startFencingSuite();
  });
  afterAll(() => suite?.[Symbol.asyncDispose]());

  const feedsOf = async (node: FencingNode) => Number(/^feeds: +(\d+)$/m.exec((await node.status()).output)?.[1]);

  it.concurrent("is armed and lives while renewals go on, is disarmed while somebody works on it, and when its agent is asked to end", async () => {
    await using node = await suite.startNode({ name: "fed", settings: WATCHDOG_MODE, softdog: SOFTDOG });
    await node.startAgent();
    const { sequence } = await node.waitForLease(ARMED);
    await node.waitForDog("active");
    await node.liveOn(3 * W_SECONDS);
    const later = await node.waitForLease(ARMED);
    expect(later.sequence).toBeGreaterThan(sequence + W_SECONDS);
    const asWanted = await node.status();
    expect(asWanted.output).toMatch(/^mode: +watchdog \(wanted: watchdog\)\narmed: +yes\ndog: +held, .* 10 s /m);
    expect(asWanted.exitCode).toBe(0);

    await suite.cluster.setMaintenance("fed", true);
    await node.waitForLease(DISARMED);
    await node.waitForDog("inactive");
    const resting = await node.status();
    expect(resting.output).toMatch(/^armed: +no\ndog: +none is held$/m);
    expect(resting.output).toMatch(new RegExp(`^maintenance: +${PAUSED_ANNOTATION}$`, "m"));
    expect(resting.exitCode).toBe(0);
    await node.liveOn(1.5 * W_SECONDS);

    await suite.cluster.setMaintenance("fed", false);
    await node.waitForLease(ARMED);
    await node.waitForDog("active");

    await node.signalAgent("TERM");
    await node.waitForLog({ message: "agent ended" });
    expect(await suite.cluster.lease("fed")).toMatchObject({ mode: "notify", armed: false });
    await node.waitForDog("inactive");
    await node.liveOn(2 * W_SECONDS);
    expect(node.guest.console).not.toMatch(RESET);
    expect(node.guest.console).not.toContain("watchdog did not stop!");
  });

  it.concurrent("in mode local lives through an outage of the API of any length, and resets itself when it hangs", async () => {
    await using node = await suite.startNode({ name: "local", settings: LOCAL_MODE, softdog: SOFTDOG });
    await node.startAgent();
    await node.waitForLease({ mode: "local", armed: false, watchdogTimeoutSeconds: W_SECONDS });

    node.front.swallow();
    await node.waitForLog({ message: "renewals fail" });
    const before = await feedsOf(node);
    await node.liveOn(2 * (W_SECONDS + G_SECONDS));
    expect(await feedsOf(node)).toBeGreaterThan(before + W_SECONDS);
    const told = await node.status();
    expect(told.output).toMatch(/^mode: +local \(wanted: local\)\narmed: +no$/m);
    expect(told.output).toMatch(/^renewals fail: +\S/m);
    expect(told.exitCode).toBe(1);

    const hangingAt = performance.now();
    await node.signalAgent("STOP");
    await node.waitForReset(hangingAt + W_SECONDS * 1000 + LATE_MS);
  });

  it.concurrent("case 54: without a watchdog, or where another process holds it, is in notify, says so, and is armed as soon as it can be", async () => {
    await using node = await suite.startNode({ name: "without", settings: WATCHDOG_MODE, softdog: undefined });
    await node.startAgent();
    await node.waitForLease(DISARMED);
    await node.waitForLog({ level: "error", problem: "missing", modeInForce: "notify" });
    const told = await node.status();
    expect(told.output).toMatch(/^mode: +notify \(wanted: watchdog\)$/m);
    expect(told.output).toMatch(/^problem: +missing$/m);
    expect(told.exitCode).toBe(1);
    await node.guest.run(`modprobe ${SOFTDOG}`);
    await node.waitForLease(ARMED);
    await node.waitForDog("active");
    await node.signalAgent("TERM");
    await node.waitForDog("inactive");

    // As a system manager that was told to mind the watchdog.
    await node.guest.run("sh -c 'exec 3>/dev/watchdog; while sleep 1; do echo -n . >&3; done' & echo $! >/run/holder");
    await node.waitForDog("active");
    await node.startAgent();
    await node.waitForLog({ level: "error", problem: "busy", modeInForce: "notify" });
    await node.waitForLease(DISARMED);
    await node.guest.run("kill $(cat /run/holder)");
    await node.waitForLease(ARMED);
    await node.liveOn(2 * W_SECONDS);
    expect(node.guest.console).not.toMatch(RESET);
  });

  it.concurrent("with a watchdog that can't be stopped is armed only where that is accepted, and is then fed in maintenance too", async () => {
    const start = { name: "nowayout", settings: WATCHDOG_MODE, softdog: softdog(W_SECONDS, "nowayout=1") };
    await using node = await suite.startNode(start);
    await node.startAgent();
    await node.waitForLog({ level: "error", problem: "nowayout", modeInForce: "notify" });
    await node.waitForLease(DISARMED);
    await node.waitForDog("inactive");
    await node.signalAgent("TERM");
    await node.waitForLog({ message: "agent ended" });

    await node.startAgent({ FENCING_ACCEPT_NOWAYOUT: "true" });
    await node.waitForLease(ARMED);
    await suite.cluster.setMaintenance("nowayout", true);
    await node.waitForLease({ mode: "notify", armed: false, watchdogTimeoutSeconds: W_SECONDS });
    await node.liveOn(2 * W_SECONDS);
    await node.waitForDog("active");
    expect(await suite.cluster.lease("nowayout")).toMatchObject({ mode: "notify", armed: false });
    expect(node.guest.console).not.toMatch(RESET);
  });

  it.concurrent("is never reset by a crash loop of its agent while the API answers: after two crashes it is disarmed", async () => {
    const start = { name: "healthy", settings: WATCHDOG_MODE, softdog: softdog(LONG_W_SECONDS) };
    await using node = await suite.startNode(start);
    await node.keepAgentStarted();
    const first = await node.waitForLease({ armed: true });
    await node.signalAgent("KILL");
    const second = await node.waitForLease(({ agent, armed }) => agent !== first.agent && armed);
    await node.signalAgent("KILL");
    await node.waitForLog({ because: "the agent crashed 2 times within the last minutes" });
    const third = await node.waitForLease(DISARMED);
    expect([first.agent, second.agent]).not.toContain(third.agent);
    await node.waitForDog("inactive");
    await node.signalAgent("KILL");
    await node.waitForLease(({ agent }) => agent !== third.agent);
    await node.liveOn(1.25 * LONG_W_SECONDS);
    await node.waitForLease(DISARMED);
    await node.waitForDog("inactive");
    expect(node.guest.console).not.toMatch(RESET);
  });
});
