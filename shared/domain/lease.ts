/** A Kubernetes Lease by which a node says that it lives, as far as our decisions need it. */
import type { LabelMap } from "./selector.ts";

export interface Lease {
  /** The node's. */
  readonly name: string;
  /** Changes with every write, whoever wrote: what stands still is surely not renewed. */
  readonly resourceVersion: string;
  /** By the clock of who renewed it: compared with nothing but the other Lease of the same node. */
  readonly renewTime: Date | undefined;
  readonly annotations: LabelMap;
}
