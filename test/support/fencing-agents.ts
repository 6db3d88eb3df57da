/**
 * Plays the fencing-agents of many nodes: each renews its Lease as the program on a node does, with its own lease book,
 * until it is cut off. There are no dogs here: what one does to a real kernel is another suite's.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { ApiServer } from "../../node-agent/api-server.ts";
import { createLeaseBook, type LeaseBook } from "../../node-agent/fencing/lease-book.ts";
import type { FencingStatement } from "../../shared/domain/fencing-lease.ts";
import type { ControlPlane } from "../rig/control-plane.ts";

export interface PlayedAgent {
  readonly nodeName: string;
  readonly nodeUid: string;
  readonly statement: Pick<FencingStatement, "mode" | "armed" | "bootId" | "watchdogTimeoutSeconds">;
}

export interface PlayedAgents extends AsyncDisposable {
  start(agent: PlayedAgent): void;
  /** It renews no more, as one that reaches nobody. */
  cutOff(nodeName: string): void;
  reconnect(nodeName: string): void;
  /** When the last renewal that was accepted was sent. @throws where there was none. */
  lastRenewalOf(nodeName: string): Date;
}

const RENEWAL_MILLISECONDS = 5_000;
const FEED_WITHIN_SECONDS = 10;

export function playFencingAgents(plane: Pick<ControlPlane, "api">): PlayedAgents {
  const stopped = new AbortController();
  const running: Promise<void>[] = [];
  const lost = new Set<string>();
  const renewedAt = new Map<string, Date>();

  async function run({ nodeName, nodeUid, statement }: PlayedAgent): Promise<void> {
    const agent = crypto.randomUUID();
    const book = bookOf(nodeName, nodeUid, plane);
    for (let sequence = 1; !stopped.signal.aborted; sequence++) {
      const sentAt = new Date();
      if (!lost.has(nodeName)) {
        const renewal = await book.renew({
          v: 1,
          ...statement,
          feedWithinSeconds: FEED_WITHIN_SECONDS,
          agent,
          sequence,
        });
        if (renewal.kind === "accepted") renewedAt.set(nodeName, sentAt);
      }
      // It rejects when it is stopped, which is the end of the loop.
      await sleep(RENEWAL_MILLISECONDS, undefined, { signal: stopped.signal }).catch(() => {});
    }
  }

  return {
    start: (agent) => void running.push(run(agent)),
    cutOff: (nodeName) => void lost.add(nodeName),
    reconnect: (nodeName) => void lost.delete(nodeName),
    lastRenewalOf(nodeName) {
      const at = renewedAt.get(nodeName);
      if (at === undefined) throw new Error(`looking for the last renewal of ${nodeName}: it never renewed`);
      return at;
    },
    async [Symbol.asyncDispose]() {
      stopped.abort();
      await Promise.all(running);
    },
  };
}

function bookOf(nodeName: string, nodeUid: string, plane: Pick<ControlPlane, "api">): LeaseBook {
  const call: ApiServer["call"] = async ({ method, path, body }) => {
    try {
      const answer = await plane.api.call({ method, path, body });
      return { kind: "answered", status: answer.status, body: JSON.stringify(answer.body) };
    } catch (error) {
      return { kind: "unanswered", because: String(error) };
    }
  };
  return createLeaseBook({
    api: { call },
    nodeName,
    nodeUid: () => nodeUid,
    timeoutMs: RENEWAL_MILLISECONDS,
    nowMs: () => performance.now(),
  });
}
