/**
 * The words that early-oom's eyes, head and hands share: what was seen of the node's memory and of its containers, and
 * what was decided. Values only. Times named `…Ms` come from one monotonic clock unless said otherwise.
 */

/** Memory pressure stall information: https://docs.kernel.org/accounting/psi.html */
export type Pressure =
  | {
      readonly kind: "measured";
      /** Time in which some task waited for memory, since boot, in microseconds. */
      readonly someTotalUs: number;
      /** Time in which every task that had work waited for memory, since boot, in microseconds. */
      readonly fullTotalUs: number;
      /** Share of the last 10 s in which every task waited, in percent. */
      readonly fullAvg10: number;
    }
  | {
      readonly kind: "unavailable";
      /** `absent`: no such file, as without CONFIG_PSI or with psi=0; `off`: it refuses; `unreadable`: anything else. */
      readonly why: "absent" | "off" | "unreadable";
      readonly because: string;
    };

/** One look at the node's memory. */
export interface MemorySample {
  readonly atMs: number;
  readonly totalKib: number;
  /** MemAvailable: what could be had without swapping, page cache included. */
  readonly availableKib: number;
  readonly pressure: Pressure;
}

export type Rule = "A" | "B" | "C";

/** Which rules are in force, and the threshold that the kubelet evicts at. */
export interface Rules {
  /** Little available and still falling, or tasks wait. */
  readonly a: boolean;
  /** Every task waited for more than 30 % of the last 10 s. */
  readonly b: boolean;
  /** Every task waited for more than 300 ms of a second, twice running, with at most 15 % available. */
  readonly c: boolean;
  /** The kubelet's `evictionHard` of memory.available, in KiB. */
  readonly evictionHardKib: number;
}

/** Whether the node is short of memory. */
export type Shortage =
  | { readonly kind: "fine"; readonly because: string }
  | { readonly kind: "short"; readonly rule: Rule; readonly because: string };

export type QosClass = "guaranteed" | "burstable" | "besteffort";

/** A container as its cgroup shows it. */
export interface ContainerMemory {
  /** Path relative to the cgroup root, without a leading slash. */
  readonly cgroup: string;
  /** With dashes, as the API writes it; for a static pod the 32 hexadecimal digits of its configuration's hash. */
  readonly podUid: string;
  readonly isStatic: boolean;
  readonly qos: QosClass;
  /** Without the runtime's prefix. */
  readonly containerId: string;
  readonly currentBytes: number;
  readonly inactiveFileBytes: number;
  /** memory.current − inactive_file, as the kubelet counts it. */
  readonly workingSetBytes: number;
  /** Of the working set, since a scan at least a second earlier; 0 while there was none. */
  readonly growthBytes: number;
  /** Order of creation among the cgroups of this boot: the higher the younger. */
  readonly birth: number;
  /** Processes of it that the kernel's out-of-memory killer took. */
  readonly oomKills: number;
}

/** A pod's own count, which outlives its containers: the cgroup of a killed container is soon removed. */
export interface PodOomKills {
  readonly podUid: string;
  readonly cgroup: string;
  /** Of all its containers, the removed ones included. */
  readonly oomKills: number;
}

/** One walk over the containers of the node. */
export interface CgroupScan {
  readonly atMs: number;
  readonly containers: readonly ContainerMemory[];
  readonly pods: readonly PodOomKills[];
}

/** Where the containers are. `none`: only mode `kernel` is possible. */
export type CgroupLayout =
  | {
      readonly kind: "found";
      /** Every `kubepods` cgroup, relative to the root. */
      readonly kubepods: readonly string[];
    }
  | { readonly kind: "none"; readonly because: string };

/** The kernel's own killer was here between two scans. */
export interface KernelKill {
  readonly podUid: string;
  /** Undefined where the container is gone and several could be meant. */
  readonly containerId: string | undefined;
  /** Of the container, or of the pod where the container isn't known. */
  readonly cgroup: string;
  readonly processes: number;
}

export interface ContainerFacts {
  readonly name: string;
  /** 0 where nothing is requested. */
  readonly memoryRequestBytes: number;
}

/** What the API says of a pod of this node. */
export interface PodFacts {
  /** As it stands in the pod's cgroup: of a mirror pod the hash of its configuration. */
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  readonly isStatic: boolean;
  readonly priority: number;
  readonly priorityClassName: string | undefined;
  /** By container id without `containerd://` or the like. */
  readonly containers: ReadonlyMap<string, ContainerFacts>;
  /** The largest request of its containers, for one that was started since the list was read. */
  readonly largestRequestBytes: number;
}

/** By `uid`. What was read once stays true of a pod as long as it exists: priority can't change. */
export type FactsByPod = ReadonlyMap<string, PodFacts>;

/** A container to be killed as a whole. */
export interface Victim {
  readonly container: ContainerMemory;
  readonly pod: PodFacts;
  /** Undefined where the container is younger than the list of pods. */
  readonly containerName: string | undefined;
  readonly requestBytes: number;
  readonly because: string;
}

export type Choice =
  | { readonly kind: "victim"; readonly victim: Victim }
  | { readonly kind: "nobody"; readonly because: string };

/** `cgroup`: we choose and kill a container. `kernel`: its own killer is asked to choose (sysrq f), nothing else. */
export type StrikeMode = "cgroup" | "kernel";

/** A strike so far as the next decision needs it. */
export interface Strike {
  readonly atMs: number;
  /** Of the container that was killed; undefined where the kernel was asked to choose. */
  readonly cgroup: string | undefined;
  /** Whether the last look at the cgroup found it empty or removed; true where the kernel was asked. */
  readonly gone: boolean;
  /** It couldn't be carried out: there is nothing to wait for, and others are tried before this container is again. */
  readonly failed?: true;
}

/** What comes next while memory is short. */
export type Move =
  | { readonly kind: "nothing"; readonly because: string }
  | { readonly kind: "wait"; readonly untilMs: number; readonly because: string }
  | { readonly kind: "kill"; readonly victim: Victim }
  | { readonly kind: "sysrq"; readonly because: string };
