/** What the story of early-oom is told with: eyes, hands and the rest, so that a test can give it a node of its own. */
import type { Asked } from "./act/ask-kernel.ts";
import type { Ended } from "./act/end-container.ts";
import type { Journal } from "./journal.ts";
import type { StrikeReport } from "./report.ts";
import type { CgroupScan, ContainerMemory, FactsByPod, MemorySample, Rules, StrikeMode } from "./words.ts";

export interface Eyes {
  /** @throws where memory can't be read. */
  readonly look: () => MemorySample;
  /** Undefined where there is no cgroup v2. @throws where the containers can't be read. */
  readonly scan: () => CgroupScan | undefined;
  /** Processes of the node that the kernel's killer took since boot, where that is counted. */
  readonly oomKills: () => number | undefined;
  /** @throws where that can't be told. */
  readonly isGone: (cgroup: string) => boolean;
}

interface Hands {
  readonly end: (container: ContainerMemory) => Ended;
  readonly askKernel: () => Asked;
}

export interface Parts {
  readonly eyes: Eyes;
  readonly hands: Hands;
  readonly pods: { readonly facts: FactsByPod; saw(scan: CgroupScan): void };
  readonly journal: Journal;
  /** Takes the report of a strike whose effect is known; neither throws nor waits. */
  readonly tell: (report: StrikeReport) => void;
  /** May change while we run: a node without cgroup v2 leaves only the kernel. */
  readonly mode: () => StrikeMode;
  readonly rules: Rules;
  readonly dryRun: boolean;
  readonly nodeName: string;
  readonly podUid: string;
  /** Monotonic milliseconds. */
  readonly now: () => number;
  readonly wallClock: () => Date;
}
