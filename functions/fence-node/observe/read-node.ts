/** Reads a node and its Leases again, before each step. */
import { FENCING_ANNOTATION, FENCING_LEASE_NAMESPACE } from "../../../shared/domain/fencing-lease.ts";
import { KUBELET_LEASE_NAMESPACE } from "../../../shared/domain/keys.ts";
import type { Lease } from "../../../shared/domain/lease.ts";
import type { ClusterNode } from "../../../shared/domain/node.ts";
import { type FencingStatementReading, readFencingStatement } from "../../../shared/domain/read-fencing-lease.ts";
import type { FenceTools } from "../tools.ts";

export interface FreshNode {
  readonly node: ClusterNode;
  readonly agentLease: Lease | undefined;
  readonly kubeletLease: Lease | undefined;
  readonly statement: FencingStatementReading;
}

/** Undefined where there is no Node of that name. @throws ClusterUnavailable, ClusterRefused */
export async function readNode(name: string, { cluster }: FenceTools): Promise<FreshNode | undefined> {
  const [node, agentLease, kubeletLease] = await Promise.all([
    cluster.findNode(name),
    cluster.findLease(FENCING_LEASE_NAMESPACE, name),
    cluster.findLease(KUBELET_LEASE_NAMESPACE, name),
  ]);
  return node && { node, agentLease, kubeletLease, statement: statementOf(agentLease) };
}

export function statementOf(lease: Lease | undefined): FencingStatementReading {
  return readFencingStatement(lease?.annotations[FENCING_ANNOTATION]);
}
