/** What happened in a strike, in the words of the log and of the Events. Values only. */
import type { Processes } from "./act/end-container.ts";
import type { KernelKill, MemorySample, PodFacts, Rule, Victim } from "./words.ts";

export interface StrikeReport {
  readonly at: Date;
  readonly nodeName: string;
  readonly rule: Rule;
  /** What the rule saw. */
  readonly because: string;
  /** The look that decided, and the last one before this was written. */
  readonly before: MemorySample;
  readonly after: MemorySample;
  readonly took: Took;
}

export type Took =
  | {
      readonly kind: "container";
      readonly victim: Victim;
      readonly processes: Processes;
      /** False where processes are left 2 s after the kill. */
      readonly ended: boolean;
    }
  /** By the kernel's killer, which we asked. */
  | {
      readonly kind: "kernel";
      readonly because: string;
      /** On the whole node: those of pods, and others such as system services. */
      readonly processes: number;
      readonly killed: readonly KilledInPod[];
    }
  /** Not even the kernel could be asked. */
  | { readonly kind: "nothing"; readonly because: string };

export interface KilledInPod {
  readonly kill: KernelKill;
  /** Undefined where the API wasn't asked about it yet. */
  readonly pod: PodFacts | undefined;
}

const MIB = 1024 * 1024;

/** One sentence or two for an operator, in `kubectl describe` and in the log. */
export function describeStrike(report: StrikeReport): string {
  const { rule, because, before, after } = report;
  const available = `available ${mib(before.availableKib * 1024)} -> ${mib(after.availableKib * 1024)} MiB of ${mib(before.totalKib * 1024)} MiB`;
  return `${describeTook(report.took)}. Rule ${rule}: ${because}; ${available}, ${describePressure(before)}`;
}

function describeTook(took: Took): string {
  switch (took.kind) {
    case "container": {
      const { victim, processes, ended } = took;
      const what = `${describeContainer(victim)} as a whole (${describeProcesses(processes)})`;
      const why = `working set ${mib(victim.container.workingSetBytes)} MiB, requested ${mib(victim.requestBytes)} MiB: ${victim.because}`;
      return ended ? `Killed ${what}; ${why}` : `Killed ${what}, but it is still there after 2 s; ${why}`;
    }
    case "kernel": {
      const asked = `Asked the kernel's own killer, because ${took.because}`;
      if (took.processes === 0) return `${asked}; nobody was seen to die`;
      const elsewhere = took.processes - took.killed.reduce((sum, { kill }) => sum + kill.processes, 0);
      const others = elsewhere > 0 ? [`${elsewhere} in no pod that is seen`] : [];
      return `${asked}; of processes it took ${[...took.killed.map(describeKill), ...others].join(", ")}`;
    }
    case "nothing":
      return `Nothing could be killed: ${took.because}`;
  }
}

export function describeContainer({ pod, container, containerName }: Victim): string {
  return `container ${containerName ?? container.containerId.slice(0, 12)} of pod ${pod.namespace}/${pod.name}`;
}

function describeKill({ kill, pod }: KilledInPod): string {
  const name = kill.containerId === undefined ? undefined : pod?.containers.get(kill.containerId)?.name;
  const where = pod ? `pod ${pod.namespace}/${pod.name}` : `the pod with UID ${kill.podUid}`;
  return `${kill.processes} of ${name === undefined ? where : `container ${name} of ${where}`}`;
}

function describeProcesses({ count, named }: Processes): string {
  const more = count > named.length ? ` and ${count - named.length} more` : "";
  return count === 0 ? "its processes couldn't be listed" : `${named.join(", ")}${more}`;
}

function describePressure({ pressure }: MemorySample): string {
  if (pressure.kind === "unavailable") return "pressure unknown";
  return `every task waited ${pressure.fullAvg10} % of the last 10 s`;
}

function mib(bytes: number): number {
  return Math.round(bytes / MIB);
}
