/** Fencing on a real kernel: what makes a node reset itself, and by when. None of these guests ends well. */
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { describeReal } from "../rig/real-parts.ts";
import {
  G_SECONDS,
  LIFE_MILLISECONDS,
  LONG_W_SECONDS,
  pause,
  SOFTDOG,
  softdog,
  W_SECONDS,
  WATCHDOG_MODE,
} from "../support/guest/fencing-node.ts";
import { type FencingSuite, startFencingSuite } from "../support/guest/fencing-suite.ts";

const W_MS = W_SECONDS * 1000;
const G_MS = G_SECONDS * 1000;
/** From the end of the dog's patience to the line on the console, on a busy machine. */
const LATE_MS = 10_000;
/** The clock of an emulated machine is a little fast at times. */
const ALMOST = 0.8;
/** Feeds come every second; on a busy machine, every few. */
const FEED_MS = 4_000;

const ARMED = { mode: "watchdog", armed: true, watchdogTimeoutSeconds: W_SECONDS } as const;

/** Each agent, when it has begun and had time to find that nobody answers. */
const KILL_EACH = `while :; do
  until wget -q -O /dev/null http://127.0.0.1:9809/healthz; do sleep 1; done
  sleep 3
  kill -KILL $(cat /run/agent)
done`;

vi.setConfig({ testTimeout: LIFE_MILLISECONDS });

describeReal("a fenced node in mode watchdog", ["control plane", "guest"], () => {
  let suite: FencingSuite;
  beforeAll(async () => {
    suite = await startFencingSuite();
  });
  afterAll(() => suite?.[Symbol.asyncDispose]());

  const startArmed = async (name: string) => {
    await using onFailure = new AsyncDisposableStack();
    const node = onFailure.use(await suite.startNode({ name, settings: WATCHDOG_MODE, softdog: SOFTDOG }));
    await node.startAgent();
    await node.waitForLease(ARMED);
    onFailure.move();
    return node;
  };

  it.concurrent("lives through an outage of the API that ends in time, and resets itself in one that doesn't", async () => {
    await using node = await startArmed("cut-off");
    await node.front.refuse();
    await node.waitForLog({ message: "renewals fail" });
    await node.front.heal();
    await node.waitForLog({ message: "renewals are accepted again" });
    await node.liveOn(2 * W_SECONDS);
    const { sequence, agent } = await node.waitForLease(ARMED);

    node.front.swallow();
    const cutAt = performance.now();
    const resetAt = await node.waitForReset(cutAt + G_MS + W_MS + LATE_MS);
    expect(resetAt).toBeGreaterThan(cutAt + ALMOST * W_MS - FEED_MS);
    const lease = await suite.cluster.lease("cut-off");
    // Who reads it now is told the truth: a dog ran, and nobody renews.
    expect(lease).toMatchObject({ ...ARMED, agent });
    expect(lease?.sequence).toBeGreaterThanOrEqual(sequence);
  });

  it.concurrent("resets itself W after its agent was killed", async () => {
    await using node = await startArmed("killed");
    const killedAt = performance.now();
    await node.signalAgent("KILL");
    await node.guest.waitForLine(/watchdog did not stop!/, 5_000);

    const resetAt = await node.waitForReset(killedAt + W_MS + LATE_MS);
    // The kernel pings once when the device is closed.
    expect(resetAt).toBeGreaterThan(killedAt + ALMOST * W_MS);
    expect(await suite.cluster.lease("killed")).toMatchObject(ARMED);
  });

  it.concurrent("resets itself when its agent is stopped and feeds no more", async () => {
    await using node = await startArmed("frozen");
    const stoppedAt = performance.now();
    await node.signalAgent("STOP");
    await pause(1);
    const lease = await suite.cluster.lease("frozen");
    expect(lease).toMatchObject(ARMED);

    const resetAt = await node.waitForReset(stoppedAt + W_MS + LATE_MS);
    expect(resetAt).toBeGreaterThan(stoppedAt + ALMOST * W_MS - FEED_MS);
    expect(await suite.cluster.lease("frozen")).toEqual(lease);
    expect(node.guest.console).not.toContain("watchdog did not stop!");
  });

  it.concurrent("whose agent is asked to end while the API is away gets one more W for the next agent, and resets itself without one", async () => {
    await using node = await startArmed("orphaned");
    await node.front.refuse();
    await node.signalAgent("TERM");
    const endingAt = performance.now();
    await node.waitForLog({ message: "agent ended" });
    const endedAt = performance.now();
    await node.waitForDog("active");
    expect(node.guest.console).toContain("watchdog did not stop!");

    const resetAt = await node.waitForReset(endedAt + W_MS + LATE_MS);
    expect(resetAt).toBeGreaterThan(endingAt + ALMOST * W_MS);
    expect(await suite.cluster.lease("orphaned")).toMatchObject(ARMED);
  });

  it.concurrent("isn't kept alive by a crash loop of its agent while it is cut off", async () => {
    const start = { name: "looping", settings: WATCHDOG_MODE, softdog: softdog(LONG_W_SECONDS) };
    await using node = await suite.startNode(start);
    await node.keepAgentStarted();
    await node.waitForLease({ armed: true, watchdogTimeoutSeconds: LONG_W_SECONDS });
    await node.front.refuse();
    await node.signalAgent("KILL");
    const killedAt = performance.now();
    await node.guest.run(`(${KILL_EACH}) &`);

    // The first of them had the dog open, and its end pinged once.
    await node.waitForReset(killedAt + LONG_W_SECONDS * 1000 + LATE_MS);
    const started = node.log().filter(({ message }) => message === "agent started");
    expect(started.length).toBeGreaterThanOrEqual(2);
    expect(node.guest.console.split("watchdog did not stop!").length - 1).toBe(1);
  });
});
