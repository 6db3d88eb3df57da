/** Systems that were built wrong, each around the shipped parts: the search must find the fault of every one. */

import { step } from "../../../../node-agent/fencing/state-machine.ts";
import type { Step, Turn } from "../../../../node-agent/fencing/words.ts";
import { FENCING_LEASE_NAMESPACE } from "../../../../shared/domain/fencing-lease.ts";
import { REFUSED_CONNECTION } from "./link.ts";
import type { Story } from "./scheduler.ts";

const LOOK_EVERY_MS = 10_000;
const LEASE_AGE_MS = 60_000;

/** Lets pods go when their node's Lease is 60 s old, which seems right beside a dog of 60 s. */
export const fenceByLeaseAge: Story = async ({ cluster, clock, endsAt, timeBudget }) => {
  while (clock.now().getTime() + LOOK_EVERY_MS < endsAt.getTime()) {
    try {
      for (const { name, renewTime } of await cluster.listLeases(FENCING_LEASE_NAMESPACE)) {
        if (renewTime === undefined || clock.now().getTime() - renewTime.getTime() <= LEASE_AGE_MS) continue;
        for (const pod of await cluster.listPodsOnNode(name)) await cluster.forceDeletePod(pod);
      }
    } catch {
      // It tries again.
    }
    await clock.sleep(LOOK_EVERY_MS, timeBudget);
  }
};

const feedNow = { kind: "feed", notAfterMs: undefined } as const;
const feedingFirst = (turn: Turn): Turn =>
  turn.state.dog.kind === "held" ? { ...turn, commands: [feedNow, ...turn.commands] } : turn;

/** Feeds whenever it is about to renew. */
export const feedsBeforeItRenewed: Step = (state, event, settings) => {
  const turn = step(state, event, settings);
  return turn.commands.some(({ kind }) => kind === "renew") ? feedingFirst(turn) : turn;
};

/** Takes a refused connection for a sign that there is somebody. */
export const takesRefusalForAnAnswer: Step = (state, event, settings) =>
  event.kind === "renewal failed" && event.because.includes(REFUSED_CONNECTION)
    ? step(state, { kind: "renewal accepted", sentAtMs: event.nowMs, nowMs: event.nowMs }, settings)
    : step(state, event, settings);

/** Feeds where most of its peers still hear each other, though no renewal was accepted. */
export const feedsByQuorum: Step = (state, event, settings) => {
  const turn = step(state, event, settings);
  return event.kind === "renewal failed" ? feedingFirst(turn) : turn;
};

/** Says that it is armed before it holds a dog. */
export const claimsTooMuch: Step = (state, event, settings) => {
  const turn = step(state, event, settings);
  const commands = turn.commands.map((one) =>
    one.kind === "renew"
      ? ({ ...one, claim: { ...one.claim, mode: "watchdog", armed: true, watchdogTimeoutSeconds: 60 } } as const)
      : one,
  );
  return { ...turn, commands };
};
