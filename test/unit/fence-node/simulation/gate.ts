/**
 * Whether a process gets to run. What happens to one that is stopped waits for it, and is then found in any order: a
 * timer that has expired and an answer that has come know nothing of each other.
 */
import type { Chance } from "./chance.ts";

type Deed = () => void;

export class Gate {
  readonly #chance: Chance;
  readonly #outer: Gate | undefined;
  #stops = 0;
  #isEnded = false;
  #waiting: Deed[] = [];

  constructor(chance: Chance, outer?: Gate) {
    this.#chance = chance;
    this.#outer = outer;
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** Now, later, or never. */
  run(deed: Deed): void {
    if (this.#isEnded) return;
    if (this.#stops > 0) this.#waiting.push(deed);
    else if (this.#outer?.isStopped) this.#outer.run(() => this.run(deed));
    else if (!this.#outer?.isEnded) deed();
  }

  get isStopped(): boolean {
    return this.#stops > 0;
  }

  stop(): void {
    this.#stops += 1;
  }

  go(): void {
    if (this.#stops === 0) return;
    this.#stops -= 1;
    if (this.#stops > 0) return;
    for (const deed of this.#chance.shuffled(this.#waiting.splice(0))) this.run(deed);
  }

  end(): void {
    this.#isEnded = true;
    this.#waiting = [];
  }
}
