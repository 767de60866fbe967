import { formatNumber, formatTable } from './table.js';

/** A measured figure with its threshold, if it has one. */
export interface Comparison {
  readonly name: string;
  readonly value: number;
  readonly unit: '×' | 'ms' | 'MB' | '%' | '/s' | 'calls' | 'entries';
  readonly limit: { readonly at: 'most' | 'least'; readonly value: number } | undefined;
  readonly met: boolean | undefined;
}

export const most = (value: number): Comparison['limit'] => ({ at: 'most', value });
export const least = (value: number): Comparison['limit'] => ({ at: 'least', value });

/** @param limit absent: the figure has no threshold */
export function evaluate(
  name: string,
  value: number,
  unit: Comparison['unit'],
  limit?: Comparison['limit'],
): Comparison {
  const met =
    limit === undefined ? undefined : limit.at === 'most' ? value <= limit.value : value >= limit.value;
  return { name, value, unit, limit, met };
}

/** Table of figures, thresholds and results. */
export const formatComparisons = (comparisons: readonly Comparison[]): string[] =>
  formatTable([['figure', 'measured', 'threshold', ''], ...comparisons.map(comparisonRow)]);

function comparisonRow({ name, value, unit, limit, met }: Comparison): string[] {
  const threshold = limit === undefined ? '' : `at ${limit.at} ${formatNumber(limit.value)} ${unit}`;
  const result = met === undefined ? '' : met ? 'met' : 'MISSED';
  return [name, `${formatNumber(value)} ${unit}`, threshold, result];
}
