/** Which fault a request meets: rules in order, each for some requests, so many times or with a probability. */

export type Fault =
  /** Answered here; the server behind never hears of it. */
  | { readonly kind: "answer"; readonly status: 409 | 429 | 500 | 503; readonly retryAfterSeconds?: number }
  /** Forwarded after so long. */
  | { readonly kind: "delay"; readonly ms: number }
  /** The connection is cut before the server behind gets the request. */
  | { readonly kind: "reset-before" }
  /** The server behind does what it was asked for, and the connection is cut in place of its answer. */
  | { readonly kind: "reset-after" };

export interface FaultRule {
  readonly fault: Fault;
  /** Default: every method. */
  readonly method?: string;
  /** Against the path without its query. Default: every path. */
  readonly path?: RegExp;
  /** How often at most. Default: without end. */
  readonly times?: number;
  /** From 0 to 1. Default: 1. */
  readonly probability?: number;
}

/** Rolls the dice of all rules from one seed, so that a run can be repeated. */
export class FaultChooser {
  #rules: { rule: FaultRule; left: number }[] = [];
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  replace(rules: readonly FaultRule[]): void {
    this.#rules = rules.map((rule) => ({ rule, left: rule.times ?? Number.POSITIVE_INFINITY }));
  }

  /** The first rule that is for this request, has a turn left and wins its throw. */
  choose(method: string, path: string): Fault | undefined {
    for (const entry of this.#rules) {
      const { rule } = entry;
      const isForIt = (rule.method ?? method) === method && (rule.path?.test(path) ?? true);
      if (!isForIt || entry.left <= 0 || this.#random() >= (rule.probability ?? 1)) continue;
      entry.left--;
      return rule.fault;
    }
    return undefined;
  }

  /** mulberry32: small, quick, and good enough for dice. */
  #random(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }
}
