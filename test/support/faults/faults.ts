/** Which fault a request meets: rules in order, each for some requests, so many times or with a probability. */

export type Fault =
  /** Answered here; the server behind never hears of it. */
  | { readonly kind: "answer"; readonly status: 409 | 429 | 500 | 503; readonly retryAfterSeconds?: number }
  /** Forwarded after so long. */
  | { readonly kind: "delay"; readonly ms: number }
  /** The server behind does what it was asked for at once; its answer comes so much later. */
  | { readonly kind: "late-answer"; readonly ms: number }
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
  /** Against the decoded query, without its question mark. Default: every query. */
  readonly query?: RegExp;
  /** How often at most. Default: without end. */
  readonly times?: number;
  /** From 0 to 1. Default: 1. */
  readonly probability?: number;
}

/** A rule, and how many requests it was applied to. */
export interface MetRule {
  readonly rule: FaultRule;
  readonly times: number;
}

/** Rolls the dice of all rules from one seed, so that a run can be repeated. */
export class FaultChooser {
  #rules: { rule: FaultRule; met: number }[] = [];
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  replace(rules: readonly FaultRule[]): void {
    this.#rules = rules.map((rule) => ({ rule, met: 0 }));
  }

  /** All rules in their order: one that was never met tested nothing. */
  met(): readonly MetRule[] {
    return this.#rules.map(({ rule, met }) => ({ rule, times: met }));
  }

  /** The first rule that is for this request, has a turn left and wins its throw. `target`: path, with or without query. */
  choose(method: string, target: string): Fault | undefined {
    for (const entry of this.#rules) {
      const { fault, times = Number.POSITIVE_INFINITY, probability = 1 } = entry.rule;
      if (!isFor(entry.rule, method, target) || entry.met >= times || this.#random() >= probability) continue;
      entry.met++;
      return fault;
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

function isFor(rule: FaultRule, method: string, target: string): boolean {
  const [path = "", query = ""] = target.split("?", 2);
  const isForMethod = (rule.method ?? method) === method;
  return isForMethod && (rule.path?.test(path) ?? true) && (rule.query?.test(decodeURIComponent(query)) ?? true);
}
