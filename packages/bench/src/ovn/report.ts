import { formatConditions } from '../machine.js';
import { quantile, type Summary } from '../statistics.js';
import { formatNumber, formatTable } from '../table.js';
import { type Comparison, evaluate, formatComparisons, least, most } from '../thresholds.js';
import type { OvnAdds } from './adds.js';
import type { OvnResult } from './run-ovn.js';

/** Figures of the model ovn with their thresholds. */
export const compareOvn = ({ adds, throughput: { onNode, between }, sync }: OvnResult): Comparison[] => [
  ...compareAdds(adds),
  evaluate('TCP on one node, of rows by hand', onNode.ratio, '×', least(0.95)),
  evaluate('TCP between nodes, of rows by hand', between.ratio, '×', least(0.95)),
  evaluate(`controller, ${sync.pods} pods in ${sync.subnets} subnets`, sync.time, 'ms', most(5_000)),
  evaluate('the same, resident', sync.residentBytes / 1e6, 'MB', most(250)),
];

const compareAdds = ({ reached, bare, burst }: OvnAdds): Comparison[] => [
  evaluate('ADD until a ping, p50, beyond rows alone', reached.median - bare.median, 'ms', most(10)),
  evaluate('the same, p99', reached.p99 - bare.p99, 'ms'),
  evaluate(`${burst.count} pods at once, rate of rows alone`, burst.ratio, '×', least(0.9)),
];

function formatAdds({ answered, reached, deleted, bare, burst }: OvnAdds): string[] {
  const row = (name: string, { count, median, p99 }: Summary): string[] => [
    ...[name, String(count)],
    ...[median, p99].map(formatNumber),
  ];
  const each = (times: readonly number[]): string => formatNumber(quantile(times, 0.5));
  const title = `${burst.count} at once`;
  return formatTable([
    ['milliseconds', 'count', 'p50', 'p99'],
    row('ADD until it is answered', answered),
    row('ADD until a ping is answered', reached),
    row('rows alone until a ping is answered', bare),
    row('DEL', deleted),
    [`${title}, until a ping of each is answered`, String(burst.podwire.length), each(burst.podwire), ''],
    [`${title}, rows alone`, String(burst.bare.length), each(burst.bare), ''],
  ]);
}

function formatThroughput({ throughput: { onNode, between } }: OvnResult): string[] {
  const gigabits = (rates: readonly number[]): string => formatNumber(quantile(rates, 0.5) / 1e9);
  return formatTable([
    ['TCP, Gbit/s', 'podwire', 'by hand'],
    ['on one node', gigabits(onNode.podwire), gigabits(onNode.byHand)],
    ['between nodes', gigabits(between.podwire), gigabits(between.byHand)],
  ]);
}

export const formatOvn = (result: OvnResult): string =>
  [
    `The model ovn: ${formatConditions(result)}`,
    '',
    ...formatAdds(result.adds),
    '',
    ...formatThroughput(result),
    '',
    ...formatComparisons(compareOvn(result)),
  ].join('\n');
