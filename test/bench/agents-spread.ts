/** How far figures of one kind lie apart. */

export interface Spread {
  readonly count: number;
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

/** @throws for none: a bench that measured nothing must not look like one that measured zero. */
export function spreadOf(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.min(Math.floor(sorted.length * share), sorted.length - 1)];
  const [p50, p99, max] = [at(0.5), at(0.99), at(1)];
  if (p50 === undefined || p99 === undefined || max === undefined) throw new Error("measuring: there is no figure");
  return { count: sorted.length, p50, p99, max };
}
