/** Whom the kernel's own killer took is told by counts, even when the container is gone already. */
import { expect, it } from "vitest";
import { findKernelKills } from "../../../../node-agent/early-oom/observe/kernel-kills.ts";
import type { CgroupScan } from "../../../../node-agent/early-oom/words.ts";
import { aContainer } from "./fixtures/memory.ts";

const podUid = "11111111-1111-4111-8111-111111111111";
const cgroup = `kubepods/burstable/pod${podUid}`;
const [app, sidecar, restarted] = ["a".repeat(64), "b".repeat(64), "c".repeat(64)];

/** One pod with its count, and its containers with theirs. */
function scan(oomKills: number, containers: Readonly<Record<string, number>>): CgroupScan {
  return {
    atMs: 0,
    pods: [{ podUid, cgroup, oomKills }],
    containers: Object.entries(containers).map(([containerId, kills]) =>
      aContainer({ podUid, containerId, cgroup: `${cgroup}/${containerId}`, oomKills: kills }),
    ),
  };
}

it.each([
  {
    why: "nobody died",
    before: scan(3, { [app]: 3 }),
    after: scan(3, { [app]: 3 }),
    kills: [],
  },
  {
    why: "case 53: a child process of a container that stands died, and the container is named",
    before: scan(0, { [app]: 0, [sidecar]: 0 }),
    after: scan(1, { [app]: 1, [sidecar]: 0 }),
    kills: [{ podUid, containerId: app, cgroup: `${cgroup}/${app}`, processes: 1 }],
  },
  {
    why: "a container died and was removed, and another stands in its place",
    before: scan(0, { [app]: 0, [sidecar]: 0 }),
    after: scan(2, { [restarted]: 0, [sidecar]: 0 }),
    kills: [{ podUid, containerId: app, cgroup: `${cgroup}/${app}`, processes: 2 }],
  },
  {
    why: "two containers are gone, and it isn't known which of them it was",
    before: scan(0, { [app]: 0, [sidecar]: 0 }),
    after: scan(1, {}),
    kills: [{ podUid, containerId: undefined, cgroup, processes: 1 }],
  },
  {
    why: "one stands and lost a child, another is gone",
    before: scan(0, { [app]: 0, [sidecar]: 1 }),
    after: scan(3, { [sidecar]: 2 }),
    kills: [
      { podUid, containerId: sidecar, cgroup: `${cgroup}/${sidecar}`, processes: 1 },
      { podUid, containerId: app, cgroup: `${cgroup}/${app}`, processes: 2 },
    ],
  },
  {
    why: "a container came and died between the scans",
    before: scan(0, {}),
    after: scan(1, {}),
    kills: [{ podUid, containerId: undefined, cgroup, processes: 1 }],
  },
  {
    why: "containers were removed in peace",
    before: scan(5, { [app]: 0 }),
    after: scan(5, { [restarted]: 0 }),
    kills: [],
  },
])("when $why", ({ before, after, kills }) => {
  expect(findKernelKills(before, after)).toEqual(kills);
});
