/** A bounded cache in which each entry names its own end; when full, the oldest entry makes room. */

export class ExpiringCache<V> {
  readonly #entries = new Map<string, { readonly value: V; readonly until: number }>();
  readonly #limit: number;

  constructor(limit: number) {
    this.#limit = limit;
  }

  find(key: string, now: Date): V | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    if (entry.until > now.getTime()) return entry.value;
    this.#entries.delete(key);
    return undefined;
  }

  put(key: string, value: V, until: Date): void {
    this.#entries.delete(key);
    const oldest = this.#entries.keys().next();
    if (this.#entries.size >= this.#limit && !oldest.done) this.#entries.delete(oldest.value);
    this.#entries.set(key, { value, until: until.getTime() });
  }

  get size(): number {
    return this.#entries.size;
  }
}
