import { formatConditions } from './machine.js';
import type { Measurement } from './measure.js';
import { formatComparisons } from './thresholds.js';
import type { BenchResult } from './run-bench.js';
import { formatNumber, formatTable } from './table.js';

/** The result as a table for people. */
export function formatReport(result: BenchResult): string {
  const { options } = result;
  const warm = options.warmUp === 0 ? '' : ` after ${options.warmUp} to warm up`;
  return [
    `${options.pods} pods${warm}, ${formatConditions(result)}`,
    '',
    ...formatTable([measurementHeader, ...result.measurements.map((one) => measurementRow(result, one))]),
    '',
    ...formatComparisons(result.comparisons),
    '',
    'Milliseconds from before the start of the first process of a call until the last one has been waited for;',
    '"daemon": what the agent has computed for a call.',
    ...(result.podwire ? [] : ['Podwire itself was not measured.']),
  ].join('\n');
}

const measurementHeader = ['plugin', 'call', 'at once', 'p50 ms', 'p99 ms', 'max ms', 'pods/s', 'daemon ms'];

function measurementRow(
  result: BenchResult,
  { candidate, operation, workers, summary, podsPerSecond, daemonTime }: Measurement,
) {
  const title = result.candidates.find(({ name }) => name === candidate)?.title ?? candidate;
  const times = [summary.median, summary.p99, summary.maximum].map(formatNumber);
  const daemon = daemonTime === undefined ? '' : formatNumber(daemonTime / summary.count);
  return [title, operation, String(workers), ...times, podsPerSecond.toFixed(0), daemon];
}
