/** Asks EC2, once for all, about the instances of nodes that are silent for certain. */
import { instanceIdOf } from "../../../shared/domain/instance-id.ts";
import type { ClusterNode } from "../../../shared/domain/node.ts";
import { InstancesUnavailable, SCALING_GROUP_TAG } from "../../../shared/ports/instances.ts";
import type { InstanceAnswer } from "../decide/proof.ts";
import type { FenceTools } from "../tools.ts";

/** An answer for each of `nodes`, by its providerID. */
export async function askAboutInstances(
  nodes: readonly ClusterNode[],
  { instances }: Pick<FenceTools, "instances">,
): Promise<(node: ClusterNode) => InstanceAnswer> {
  const ids = nodes.flatMap(({ providerId }) => instanceIdOf(providerId) ?? []);
  const answerFor = await ask(ids, instances);
  return ({ providerId }) => {
    const id = instanceIdOf(providerId);
    if (id === undefined) return { kind: "no-instance" };
    // Not asked about: the node was made anew for another instance since.
    return ids.includes(id) ? answerFor(id) : { kind: "unavailable", because: "it wasn't asked about yet" };
  };
}

async function ask(
  ids: readonly string[],
  instances: FenceTools["instances"],
): Promise<(instanceId: string) => InstanceAnswer> {
  try {
    const listed = new Map((await instances.listInstances(ids)).map((one) => [one.id, one]));
    return (id) => {
      const instance = listed.get(id);
      if (instance === undefined) return { kind: "not-listed" };
      const { state, isSpot, tags } = instance;
      return { kind: "listed", state, isSpot, group: tags[SCALING_GROUP_TAG] };
    };
  } catch (error) {
    if (!(error instanceof InstancesUnavailable)) throw error;
    const { message: because } = error;
    return () => ({ kind: "unavailable", because });
  }
}
