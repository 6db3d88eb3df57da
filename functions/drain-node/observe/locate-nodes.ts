/** Finds the nodes of a batch of instances: one request by label, and one list of all nodes if somebody is missing. */

import { instanceIdOf } from "../../../shared/domain/instance-id.ts";
import { INSTANCE_ID_LABEL } from "../../../shared/domain/keys.ts";
import { decideIdentity, type Identity } from "../decide/target.ts";
import type { DrainTools } from "../tools.ts";

/** Whose node is it? By instance id, for host names and addresses repeat between clusters. */
export async function locateNodes(
  instanceIds: readonly string[],
  { cluster, clock, memory }: DrainTools,
): Promise<ReadonlyMap<string, Identity>> {
  const labelled = await cluster.listNodesByInstanceId(instanceIds);
  const byLabel = (id: string) => labelled.filter((node) => node.labels[INSTANCE_ID_LABEL] === id);
  const found = new Map(instanceIds.map((id) => [id, decideIdentity(id, byLabel(id))]));

  const missing = instanceIds.filter((id) => found.get(id)?.kind === "none");
  if (missing.length === 0) return found;
  const all = await memory.nodes(clock.now(), () => cluster.listNodes());
  for (const id of missing) {
    found.set(
      id,
      decideIdentity(
        id,
        all.filter((node) => instanceIdOf(node.providerId) === id),
      ),
    );
  }
  return found;
}
