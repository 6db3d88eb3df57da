/** What several parts of the contract ask about a pod. */
import type { Pod } from "../../../shared/domain/pod.ts";
import type { World } from "./world.ts";

/** The pods on the same node: alone there, in tests that give each pod a node of its own. */
export async function podsOf(world: World, pod: Pod): Promise<readonly Pod[]> {
  return world.cluster.listPodsOnNode(pod.nodeName ?? "");
}

/** From now to the end of its grace; NaN when it isn't terminating. */
export async function secondsUntilEnd(world: World, pod: Pod): Promise<number> {
  const [found] = await podsOf(world, pod);
  return ((found?.deletionTimestamp?.getTime() ?? Number.NaN) - Date.now()) / 1000;
}
