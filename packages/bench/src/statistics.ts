/** The `fraction` quantile by nearest rank: the smallest sample that at least that share of samples does not exceed. */
export function quantile(samples: readonly number[], fraction: number): number {
  const sorted = [...samples].sort((a, b) => a - b);
  const rank = Math.max(1, Math.ceil(fraction * sorted.length));
  return sorted[rank - 1] ?? Number.NaN;
}

/**
 * How many times as much ours are as theirs, taken in turns: the median over the rounds. What disturbs the machine for a while disturbs
 * all of a round alike.
 */
export function pairedRatio(ours: readonly number[], theirs: readonly number[]): number {
  const ratios = ours.map((value, round) => value / (theirs[round] ?? Number.NaN));
  return quantile(ratios, 0.5);
}

export interface Summary {
  readonly count: number;
  /** milliseconds, as all of it */
  readonly minimum: number;
  readonly median: number;
  readonly p99: number;
  readonly maximum: number;
}

export function summarize(samples: readonly number[]): Summary {
  return {
    count: samples.length,
    minimum: quantile(samples, 0),
    median: quantile(samples, 0.5),
    p99: quantile(samples, 0.99),
    maximum: quantile(samples, 1),
  };
}
