/** Says once of a shortage that it began, why nobody is struck in it, and that it ended: it may come and go ten times a second. */
import type { Journal } from "./journal.ts";
import type { MemorySample, Shortage } from "./words.ts";

/** A shortage that comes and goes is one: its end is said after so long without. */
const WELL_MS = 5_000;

export class ShortageSaid {
  readonly #journal: Journal;
  /** When memory was last seen short; undefined while it isn't. */
  #shortAtMs: number | undefined;
  #hasSaidWhy = false;

  constructor(journal: Journal) {
    this.#journal = journal;
  }

  saw(shortage: Shortage, sample: MemorySample): void {
    if (shortage.kind === "short") {
      if (this.#shortAtMs === undefined) this.#journal.shortage(shortage, sample);
      this.#shortAtMs = sample.atMs;
      return;
    }
    if (this.#shortAtMs === undefined || sample.atMs - this.#shortAtMs < WELL_MS) return;
    this.#shortAtMs = undefined;
    this.#hasSaidWhy = false;
    this.#journal.shortage(shortage, sample);
  }

  spared(because: string): void {
    if (!this.#hasSaidWhy) this.#journal.spared(because);
    this.#hasSaidWhy = true;
  }
}
