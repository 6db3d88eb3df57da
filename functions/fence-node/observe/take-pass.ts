/** One look at the Leases of all nodes. */
import { FENCING_LEASE_NAMESPACE } from "../../../shared/domain/fencing-lease.ts";
import { KUBELET_LEASE_NAMESPACE } from "../../../shared/domain/keys.ts";
import type { ClusterNode } from "../../../shared/domain/node.ts";
import type { LeasePass } from "../decide/observations.ts";
import type { FenceTools } from "../tools.ts";

/** Both kinds or none: half a look is a failed one. @throws ClusterUnavailable, ClusterRefused */
export async function takePass(nodes: readonly ClusterNode[], { cluster, clock }: FenceTools): Promise<LeasePass> {
  const askedAt = clock.now();
  const [agents, kubelets] = await Promise.all([
    cluster.listLeases(FENCING_LEASE_NAMESPACE),
    cluster.listLeases(KUBELET_LEASE_NAMESPACE),
  ]);
  const uids = new Map(nodes.map(({ name, uid }) => [name, uid]));
  return { askedAt, answeredAt: clock.now(), agents, kubelets, nodes: uids };
}
