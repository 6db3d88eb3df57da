/** What is wrong with the agent itself, by what it is about: said when it comes and when it goes, not in between. */
import type { Log } from "./log.ts";

export class Problems {
  readonly #log: Log;
  readonly #byAbout = new Map<string | symbol, readonly string[]>();

  constructor(log: Log) {
    this.#log = log;
  }

  get all(): readonly string[] {
    return [...this.#byAbout.values()].flat();
  }

  has(about: string | symbol): boolean {
    return this.#byAbout.has(about);
  }

  /** Those that there are with one thing now; none where the list is empty. */
  found(about: string | symbol, problems: readonly string[]): void {
    const before = this.#byAbout.get(about) ?? [];
    for (const problem of problems) if (!before.includes(problem)) this.#log("warn", "problem found", { problem });
    for (const problem of before) if (!problems.includes(problem)) this.#log("info", "problem gone", { problem });
    if (problems.length > 0) this.#byAbout.set(about, problems);
    else this.#byAbout.delete(about);
  }
}
