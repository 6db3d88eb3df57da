/** The containers of this node, wherever its distribution keeps them: found at the start, and looked for again. */
import { reasonOf } from "../log.ts";
import { findCgroupLayout } from "./observe/cgroup-layout.ts";
import { createCgroupScanner } from "./observe/scan-cgroups.ts";
import type { CgroupLayout, CgroupScan } from "./words.ts";

/** Where the containers are may be found only later: the kubelet makes the cgroup for its pods when it starts. */
export class Containers {
  readonly #root: string;
  readonly #now: () => number;
  #layout: CgroupLayout;
  #scan: () => CgroupScan | undefined;

  constructor(root: string, now: () => number) {
    this.#root = root;
    this.#now = now;
    this.#layout = findLayout(root);
    this.#scan = this.#scannerFor(this.#layout);
  }

  get layout(): CgroupLayout {
    return this.#layout;
  }

  /** Undefined where there is no cgroup v2. @throws where it can't be read. */
  readonly scan = (): CgroupScan | undefined => this.#scan();

  /** A scanner remembers for growth: it is kept where nothing changed. */
  findAgain(): void {
    const layout = findLayout(this.#root);
    if (JSON.stringify(layout) === JSON.stringify(this.#layout)) return;
    this.#layout = layout;
    this.#scan = this.#scannerFor(layout);
  }

  #scannerFor(layout: CgroupLayout): () => CgroupScan | undefined {
    if (layout.kind === "none") return () => undefined;
    return createCgroupScanner({ root: this.#root, kubepods: layout.kubepods, now: this.#now });
  }
}

/** A tree that can't be read is none: the kernel can still be asked. */
function findLayout(root: string): CgroupLayout {
  try {
    return findCgroupLayout(root);
  } catch (error) {
    return { kind: "none", because: `the cgroup tree can't be read: ${reasonOf(error)}` };
  }
}
