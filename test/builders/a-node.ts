/** Builds domain Nodes for tests: what a test doesn't name is an ordinary, Ready worker. */
import { INSTANCE_ID_LABEL } from "../../shared/domain/keys.ts";
import type { ClusterNode } from "../../shared/domain/node.ts";

export const AN_INSTANCE_ID = "i-0123456789abcdef0";

/** A Ready node `node-1` of instance AN_INSTANCE_ID, labelled with its instance id, without taints. */
export function aNode(given: Partial<ClusterNode> = {}): ClusterNode {
  return {
    name: "node-1",
    uid: `uid-of-${given.name ?? "node-1"}`,
    resourceVersion: "1",
    providerId: providerIdOf(AN_INSTANCE_ID),
    labels: { [INSTANCE_ID_LABEL]: AN_INSTANCE_ID },
    annotations: {},
    taints: [],
    unschedulable: false,
    ready: "True",
    bootId: "boot-1",
    createdAt: new Date("2026-01-01T00:00:00Z"),
    ...given,
  };
}

/** What `spec.providerID` of an instance looks like. */
export function providerIdOf(instanceId: string): string {
  return `aws:///eu-central-1a/${instanceId}`;
}
