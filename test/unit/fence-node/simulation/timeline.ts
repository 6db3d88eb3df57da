/**
 * Time of the simulation: what happens next, one thing after the other, and nothing in between. Shipped code that waits
 * for promises runs on after each event until it waits for the next one.
 */

type Deed = () => void;

interface Entry {
  readonly atMs: number;
  readonly order: number;
  readonly deed: Deed;
}

/** More of them in one history is a loop, not a story. */
const MAX_EVENTS = 200_000;

export class Timeline {
  /** True time, which nobody in the simulation can read but the judge. */
  nowMs = 0;
  readonly #heap: Entry[] = [];
  #order = 0;
  #promisesMoved = false;
  #afterwards: Deed[] = [];

  after(ms: number, deed: Deed): void {
    this.at(this.nowMs + ms, deed);
  }

  at(atMs: number, deed: Deed): void {
    const heap = this.#heap;
    const entry = { atMs: Math.max(this.nowMs, atMs), order: this.#order++, deed };
    let hole = heap.push(entry) - 1;
    while (hole > 0) {
      const parent = (hole - 1) >> 1;
      const above = heap[parent];
      if (above === undefined || isBefore(above, entry)) break;
      heap[hole] = above;
      hole = parent;
    }
    heap[hole] = entry;
  }

  /** Says that a promise was settled in this event, and what is to be done once all that follows from it has happened. */
  movePromises(afterwards?: Deed): void {
    this.#promisesMoved = true;
    if (afterwards) this.#afterwards.push(afterwards);
  }

  async runTo(endMs: number, isOver: () => boolean): Promise<void> {
    // The process has other things to do too, once in a while.
    await new Promise((resolve) => setImmediate(resolve));
    for (let events = 0; ; events++) {
      if (events > MAX_EVENTS) throw new Error(`more than ${MAX_EVENTS} events before ${this.nowMs} ms`);
      const next = this.#heap[0];
      if (next === undefined || next.atMs > endMs || isOver()) return;
      this.#removeFirst();
      this.nowMs = next.atMs;
      next.deed();
      if (this.#promisesMoved) await this.#settle();
    }
  }

  async #settle(): Promise<void> {
    this.#promisesMoved = false;
    // All microtasks run before it, however many they make: https://nodejs.org/api/process.html#processnexttickcallback-args
    await new Promise<void>((resolve) => process.nextTick(resolve));
    for (const deed of this.#afterwards.splice(0)) deed();
  }

  #removeFirst(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    let hole = 0;
    for (;;) {
      const left = heap[2 * hole + 1];
      const right = heap[2 * hole + 2];
      const isRight = left !== undefined && right !== undefined && isBefore(right, left);
      const child = isRight ? right : left;
      if (child === undefined || isBefore(last, child)) break;
      heap[hole] = child;
      hole = 2 * hole + (isRight ? 2 : 1);
    }
    heap[hole] = last;
  }
}

function isBefore(one: Entry, other: Entry): boolean {
  return one.atMs < other.atMs || (one.atMs === other.atMs && one.order < other.order);
}
