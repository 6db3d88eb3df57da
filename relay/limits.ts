/**
 * Limits on what one source or one caller can take from the others: how many things at once, and how many per
 * second. Both forget idle keys, so their memory is bounded by what is really going on.
 */

/** At most `limit` things at a time for each key. */
export class InFlightLimit {
  readonly #counts = new Map<string, number>();
  readonly #limit: number;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Whether one more may begin; whoever gets true must call `leave` once. */
  enter(key: string): boolean {
    const count = this.#counts.get(key) ?? 0;
    if (count >= this.#limit) return false;
    this.#counts.set(key, count + 1);
    return true;
  }

  leave(key: string): void {
    const count = this.#counts.get(key) ?? 0;
    if (count <= 1) this.#counts.delete(key);
    else this.#counts.set(key, count - 1);
  }

  get total(): number {
    return [...this.#counts.values()].reduce((sum, count) => sum + count, 0);
  }
}

/** Beyond so many sources the one that was quiet for longest is forgotten, which refills its bucket. */
const MAX_SOURCES = 10_000;

/** A token bucket for each key: `perSecond` on average, `burst` at once. */
export class RateLimit {
  readonly #buckets = new Map<string, { readonly left: number; readonly at: number }>();
  readonly #perSecond: number;
  readonly #burst: number;

  constructor(limit: { readonly perSecond: number; readonly burst: number }) {
    this.#perSecond = limit.perSecond;
    this.#burst = limit.burst;
  }

  /** Whether one more is within the limit now. */
  take(key: string, now: Date): boolean {
    const bucket = this.#buckets.get(key) ?? { left: this.#burst, at: now.getTime() };
    const seconds = Math.max(0, now.getTime() - bucket.at) / 1000;
    const left = Math.min(this.#burst, bucket.left + seconds * this.#perSecond);
    this.#buckets.delete(key);
    const oldest = this.#buckets.keys().next();
    if (this.#buckets.size >= MAX_SOURCES && !oldest.done) this.#buckets.delete(oldest.value);
    this.#buckets.set(key, { left: left >= 1 ? left - 1 : left, at: now.getTime() });
    return left >= 1;
  }
}
