/** Follows one strike until its effect is known: whether the container went, or whom the kernel took. */
import type { Processes } from "./act/end-container.ts";
import { findKernelKills } from "./observe/kernel-kills.ts";
import type { Took } from "./report.ts";
import type { CgroupScan, FactsByPod, KernelKill, MemorySample, Rule, Victim } from "./words.ts";

export interface Struck {
  readonly at: Date;
  readonly atMs: number;
  readonly rule: Rule;
  readonly because: string;
  readonly before: MemorySample;
  readonly aim:
    | { readonly kind: "container"; readonly victim: Victim; readonly processes: Processes }
    | {
        readonly kind: "kernel";
        readonly because: string;
        /** Before it was asked; undefined where the containers can't be seen. */
        readonly scan: CgroupScan | undefined;
        /** Processes of the whole node that it had taken by then; undefined where that isn't counted. */
        readonly oomKills: number | undefined;
      };
}

export interface Seen {
  readonly nowMs: number;
  readonly facts: FactsByPod;
  readonly scan: () => CgroupScan | undefined;
  readonly oomKills: () => number | undefined;
  readonly isGone: (cgroup: string) => boolean;
}

/** Processes end within milliseconds of the signal, unless one hangs in the kernel. */
const EFFECT_WITHIN_MS = 2_000;
/** From the end to the figure that is told as "after": memory comes back a moment later. */
const SETTLED_AFTER_MS = 500;

/** The returned function gives the outcome once it is known; until then it is to be called at every turn. */
export function follow({ atMs, aim }: Struck): (seen: Seen) => Took | undefined {
  let effectAtMs: number | undefined;
  let kills: readonly KernelKill[] = [];
  let processes = 0;

  const hasEffect = ({ scan, isGone, oomKills }: Seen): boolean => {
    if (aim.kind === "container") return isGone(aim.victim.container.cgroup);
    const after = scan();
    kills = aim.scan && after ? findKernelKills(aim.scan, after) : [];
    const inPods = kills.reduce((sum, kill) => sum + kill.processes, 0);
    const now = oomKills();
    const onNode = now === undefined || aim.oomKills === undefined ? 0 : now - aim.oomKills;
    processes = Math.max(inPods, onNode);
    return processes > 0;
  };

  return (seen) => {
    if (effectAtMs === undefined && hasEffect(seen)) effectAtMs = seen.nowMs;
    const knownAtMs = effectAtMs === undefined ? atMs + EFFECT_WITHIN_MS : effectAtMs + SETTLED_AFTER_MS;
    if (seen.nowMs < knownAtMs) return undefined;
    if (aim.kind === "container") return { ...aim, ended: effectAtMs !== undefined };
    const killed = kills.map((kill) => ({ kill, pod: seen.facts.get(kill.podUid) }));
    return { kind: "kernel", because: aim.because, processes, killed };
  };
}
