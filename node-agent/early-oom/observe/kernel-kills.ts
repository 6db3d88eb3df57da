/** Whom the kernel's own killer took between two walks: told by the counts in memory.events. */
import type { CgroupScan, ContainerMemory, KernelKill } from "../words.ts";

/**
 * A pod's count holds those of its containers, also of the removed ones. A pod that is new was counted from nothing.
 */
export function findKernelKills(before: CgroupScan, after: CgroupScan): readonly KernelKill[] {
  const podKillsBefore = new Map(before.pods.map(({ cgroup, oomKills }) => [cgroup, oomKills]));
  const killsBefore = new Map(before.containers.map(({ cgroup, oomKills }) => [cgroup, oomKills]));
  return after.pods.flatMap((pod) => {
    const inPod = pod.oomKills - (podKillsBefore.get(pod.cgroup) ?? 0);
    if (inPod <= 0) return [];
    const standing = after.containers.filter((container) => isIn(pod.cgroup, container));
    const known = standing.flatMap(({ podUid, containerId, cgroup, oomKills }): readonly KernelKill[] => {
      const processes = oomKills - (killsBefore.get(cgroup) ?? 0);
      return processes > 0 ? [{ podUid, containerId, cgroup, processes }] : [];
    });
    const processes = inPod - known.reduce((sum, kill) => sum + kill.processes, 0);
    if (processes <= 0) return known;
    const stillThere = new Set(standing.map(({ cgroup }) => cgroup));
    const gone = before.containers.filter((one) => isIn(pod.cgroup, one) && !stillThere.has(one.cgroup));
    const only = gone.length === 1 ? gone[0] : undefined;
    const { podUid } = pod;
    return [...known, { podUid, containerId: only?.containerId, cgroup: only?.cgroup ?? pod.cgroup, processes }];
  });
}

function isIn(pod: string, { cgroup }: ContainerMemory): boolean {
  return cgroup.startsWith(`${pod}/`);
}
