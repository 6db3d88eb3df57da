/**
 * Messages that are handled more than once, on real parts: because the function was killed in the middle of its work,
 * and because an operator put the same notice into the queue twice. Either way there is one drain, and it is finished.
 */
import { CreateQueueCommand, ReceiveMessageCommand } from "@aws-sdk/client-sqs";
import { afterAll, beforeAll, expect, it } from "vitest";
import { describeReal } from "../rig/real-parts.ts";
import { waitUntil } from "../rig/wait.ts";
import type { FaultRule } from "../support/faults/faults.ts";
import { type ProxyBefore, startProxyBefore } from "../support/faults/proxy-before.ts";
import { killFunction } from "../support/function-process.ts";
import { type Installation, install } from "../support/installation.ts";
import { readMeasurements, valuesOf } from "../support/measurements.ts";
import {
  instanceIdOf,
  isDrained,
  listNodes,
  listOurEvents,
  listPods,
  nodeName,
  populate,
  type RealCluster,
  startRealCluster,
} from "../support/real-cluster.ts";
import { assumeReplayRole, sendMessage, spotNotice } from "../support/replay.ts";

const PODS = 3;
/** The client asks twice and waits 2 s each time: for so long the function can be met waiting. */
const HELD_MILLISECONDS = 10_000;
/** What the emulator writes into the log of an invocation whose process is gone. */
const DEATH = "Worker process died";
const DENIED = { name: expect.stringContaining("AccessDenied") };

describeReal("messages that are handled more than once", ["control plane", "emulator"], () => {
  let cluster: RealCluster;
  let proxy: ProxyBefore;
  let installation: Installation;

  beforeAll(async () => {
    cluster = await startRealCluster({ kwok: { podStopMilliseconds: 4_000, leases: false } });
    await populate(cluster, { nodes: 3, pods: PODS });
    proxy = await startProxyBefore(cluster);
    installation = await install({ kubeApi: proxy.kubeApi });
  });

  afterAll(async () => {
    await installation?.stop();
    await proxy?.stop();
    await cluster?.stop();
  });

  const podsOn = async (n: number) => (await listPods(cluster)).filter(({ spec }) => spec.nodeName === nodeName(n));
  const isEnding = async (n: number) =>
    (await podsOn(n)).every(({ metadata }) => metadata.deletionTimestamp !== undefined);
  const node = async (n: number) => (await listNodes(cluster)).find(({ metadata }) => metadata.name === nodeName(n));
  const deaths = async () => (await installation.logText()).split(DEATH).length - 1;
  const decisionsOn = async (n: number) =>
    (await installation.logLines()).filter(
      ({ message, instanceId }) => message === "signal decided" && instanceId === instanceIdOf(n),
    );
  const received = async () => valuesOf("signalsReceived", readMeasurements(await installation.logLines())).length;

  /** Interrupts a node, holds what the function asks for, and kills the function as soon as `isThen`. */
  async function killWhileHeld(n: number, hold: FaultRule, isThen: () => Promise<boolean>): Promise<void> {
    const before = await deaths();
    proxy.setRules([hold]);
    await installation.interrupt([instanceIdOf(n)]);
    const patience = { withinMilliseconds: 60_000, everyMilliseconds: 20 };
    await waitUntil("the function waits for its answer", isThen, patience);
    expect(await killFunction(installation.emulator, installation.functionName)).not.toEqual([]);
    proxy.setRules([]);
    await waitUntil("the emulator has met the death", async () => (await deaths()) > before);
  }

  /** The first handling came to no decision and its message is still there: whatever follows is another handling. */
  async function expectUnfinished(n: number): Promise<void> {
    expect(await decisionsOn(n)).toEqual([]);
    expect(await installation.countMessages()).toBe(1);
    expect(await node(n)).toMatchObject({ spec: { unschedulable: true } });
  }

  async function expectDrained(n: number): Promise<void> {
    await waitUntil("the queue is empty", async () => (await installation.countMessages()) === 0, {
      withinMilliseconds: 60_000,
      everyMilliseconds: 250,
    });
    expect(await node(n)).toSatisfy(isDrained);
    expect(await podsOn(n)).toEqual([]);
    expect(await installation.deadLetters()).toEqual([]);
    expect((await decisionsOn(n)).at(-1)).toMatchObject({ decision: "drained", outcome: "done" });
  }

  it("a function that is killed after the cordon is begun again, and its node is drained", async () => {
    const holdPods = { method: "GET", path: /pods$/, fault: { kind: "delay", ms: HELD_MILLISECONDS } } as const;
    await killWhileHeld(1, holdPods, async () => (proxy.met()[0]?.times ?? 0) > 0);

    await expectUnfinished(1);
    expect((await podsOn(1)).map(({ metadata }) => metadata.deletionTimestamp)).toEqual(Array(PODS).fill(undefined));
    await expectDrained(1);
    // Written only when a message comes for the first time: what drained the node was not that.
    expect(await received()).toBe(1);
  });

  it("a function that is killed after the evictions is begun again, and its node is called drained", async () => {
    const holdAnswers = {
      method: "POST",
      path: /eviction$/,
      fault: { kind: "late-answer", ms: HELD_MILLISECONDS },
    } as const;
    await killWhileHeld(2, holdAnswers, () => isEnding(2));

    await expectUnfinished(2);
    expect(await node(2)).not.toSatisfy(isDrained);
    await expectDrained(2);
    expect(await received()).toBe(2);
  });

  it("the same notice put back twice through the replay role is one drain, and both messages end", async () => {
    const onCall = await assumeReplayRole(installation);
    const notice = spotNotice("5b0a3c1e-replayed-twice", instanceIdOf(3), installation.emulator);
    await sendMessage(onCall, installation.queueUrl, notice);
    await sendMessage(onCall, installation.queueUrl, notice);

    await waitUntil(
      "the node is drained",
      async () => {
        const found = await node(3);
        return found !== undefined && isDrained(found);
      },
      { withinMilliseconds: 60_000 },
    );
    await expectDrained(3);
    expect(await received()).toBe(4);
    const events = (await listOurEvents(cluster)).filter(({ involvedObject }) => involvedObject.name === nodeName(3));
    expect(events.map(({ reason }) => reason).toSorted()).toEqual(["InterruptionDrainStarted", "InterruptionDrained"]);
    const decisions = await decisionsOn(3);
    expect(new Set(decisions.map(({ signal }) => signal))).toEqual(new Set([`spot-interruption/${notice.id}`]));
    expect(decisions.filter(({ outcome }) => outcome === "done").length).toBe(2);
  });

  it("nobody else may put messages into the queue, not even who may do everything in the account", async () => {
    const root = installation.sqs;
    const notice = spotNotice("forged", instanceIdOf(3), installation.emulator);
    const { QueueUrl = "" } = await root.send(new CreateQueueCommand({ QueueName: "without-a-door" }));
    await expect(sendMessage(root, QueueUrl, notice)).resolves.toBeUndefined();
    await expect(sendMessage(root, installation.queueUrl, notice)).rejects.toMatchObject(DENIED);
    expect(await installation.countMessages()).toBe(0);
  });

  it("the replay role may put back and nothing else", async () => {
    const onCall = await assumeReplayRole(installation);
    await expect(sendMessage(onCall, installation.deadLetterQueueUrl, {})).rejects.toMatchObject(DENIED);
    const reading = onCall.send(new ReceiveMessageCommand({ QueueUrl: installation.queueUrl }));
    await expect(reading).rejects.toMatchObject(DENIED);
  });
});
