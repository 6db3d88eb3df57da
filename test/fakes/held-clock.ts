/** A clock that a test holds: time stands still, except that a sleep lets it pass at once. */
import type { Clock } from "../../shared/ports/clock.ts";

export class HeldClock implements Clock {
  #now: number;
  /** Milliseconds of each sleep so far. */
  readonly sleeps: number[] = [];

  constructor(now: Date | string = "2026-01-01T12:00:00Z") {
    this.#now = new Date(now).getTime();
  }

  now(): Date {
    return new Date(this.#now);
  }

  advance(ms: number): void {
    this.#now += ms;
  }

  /** Time is over after it, without waiting; an aborted signal rejects and no time passes. */
  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    this.sleeps.push(ms);
    this.advance(ms);
  }
}
