/** Builds what fencing decides from: what a test doesn't name is a node that is silent for certain, five minutes long. */
import type { NodeFacts } from "../../functions/fence-node/decide/fencing.ts";
import type { NodeSilence } from "../../functions/fence-node/decide/observations.ts";
import type { FencingStatement } from "../../shared/domain/fencing-lease.ts";
import type { Lease } from "../../shared/domain/lease.ts";
import { aNode } from "./a-node.ts";
import { aNodePolicy } from "./a-policy.ts";

export const OBSERVED_AT = new Date("2026-01-01T12:00:00Z");

export function secondsBefore(seconds: number, when = OBSERVED_AT): Date {
  return new Date(when.getTime() - seconds * 1000);
}

/** Both Leases stand still for so many seconds, in as many looks as there were; confirmed long ago. */
export function aSilence(seconds: number, given: Partial<NodeSilence> = {}): NodeSilence {
  const firstSeenAt = secondsBefore(seconds);
  return {
    uid: "uid-of-node-1",
    agent: { resourceVersion: "a1", firstSeenAt },
    kubelet: { resourceVersion: "k1", firstSeenAt },
    observations: Math.floor(seconds / 15) + 1,
    suspectedAt: seconds >= 80 ? secondsBefore(seconds - 60) : undefined,
    ...given,
  };
}

export function aLease(resourceVersion: string, given: Partial<Lease> = {}): Lease {
  return { name: "node-1", resourceVersion, renewTime: secondsBefore(305), annotations: {}, ...given };
}

export function aStatement(given: Partial<FencingStatement> = {}): FencingStatement {
  return {
    v: 1,
    mode: "local",
    bootId: "boot-1",
    watchdogTimeoutSeconds: 60,
    feedWithinSeconds: 10,
    armed: true,
    agent: "agent-1",
    sequence: 7,
    ...given,
  };
}

export function someFacts(given: Partial<NodeFacts> = {}): NodeFacts {
  return {
    node: aNode({ ready: "Unknown" }),
    silence: aSilence(300),
    observedAt: OBSERVED_AT,
    agentLease: aLease("a1"),
    kubeletLease: aLease("k1"),
    statement: { kind: "statement", statement: aStatement() },
    instance: { kind: "listed", state: "running", isSpot: false, group: undefined },
    policy: aNodePolicy({ fencing: { enabled: true } }),
    isIgnored: false,
    brake: undefined,
    ...given,
  };
}
