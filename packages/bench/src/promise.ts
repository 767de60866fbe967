import { formatNumber, formatTable } from './table.js';

/** A figure that a promise was made about, or one that stands beside those. */
export interface Comparison {
  readonly name: string;
  readonly value: number;
  readonly unit: '×' | 'ms' | 'MB' | '%' | '/s' | 'calls';
  readonly limit: { readonly at: 'most' | 'least'; readonly value: number } | undefined;
  readonly met: boolean | undefined;
}

export const most = (value: number): Comparison['limit'] => ({ at: 'most', value });
export const least = (value: number): Comparison['limit'] => ({ at: 'least', value });

/** @param limit absent: nothing was promised */
export function judge(
  name: string,
  value: number,
  unit: Comparison['unit'],
  limit?: Comparison['limit'],
): Comparison {
  const met =
    limit === undefined ? undefined : limit.at === 'most' ? value <= limit.value : value >= limit.value;
  return { name, value, unit, limit, met };
}

/** A table with what was promised, and whether it is so. */
export const formatComparisons = (comparisons: readonly Comparison[]): string[] =>
  formatTable([['figure', 'measured', 'promised', ''], ...comparisons.map(comparisonRow)]);

function comparisonRow({ name, value, unit, limit, met }: Comparison): string[] {
  const promised = limit === undefined ? '' : `at ${limit.at} ${formatNumber(limit.value)} ${unit}`;
  const verdict = met === undefined ? '' : met ? 'met' : 'MISSED';
  return [name, `${formatNumber(value)} ${unit}`, promised, verdict];
}
