import type { Comparison } from './compare.js';
import type { Measurement } from './measure.js';
import type { BenchResult } from './run-bench.js';

/** The result as a table for people. */
export function formatReport(result: BenchResult): string {
  const { machine, options } = result;
  const warm = options.warmUp === 0 ? '' : ` after ${options.warmUp} to warm up`;
  const title = `${options.pods} pods${warm}, Linux ${machine.kernel}, ${machine.processors} × ${machine.processor}, Node ${machine.node}`;
  const load = `load average ${result.load.before.toFixed(1)} before, ${result.load.after.toFixed(1)} after`;
  return [
    `${title}; ${load}`,
    '',
    ...formatTable([measurementHeader, ...result.measurements.map((one) => measurementRow(result, one))]),
    '',
    ...formatTable([comparisonHeader, ...result.comparisons.map(comparisonRow)]),
    '',
    'Milliseconds from before the start of the first process of a call until the last one has been waited for;',
    '"daemon": what the agent has computed for a call.',
    ...(result.podwire ? [] : ['Podwire itself was not measured.']),
  ].join('\n');
}

const measurementHeader = ['plugin', 'call', 'at once', 'p50 ms', 'p99 ms', 'max ms', 'pods/s', 'daemon ms'];

function measurementRow(
  result: BenchResult,
  { contender, operation, workers, summary, podsPerSecond, daemonTime }: Measurement,
) {
  const title = result.contenders.find(({ name }) => name === contender)?.title ?? contender;
  const times = [summary.median, summary.p99, summary.maximum].map(formatNumber);
  const daemon = daemonTime === undefined ? '' : formatNumber(daemonTime / summary.count);
  return [title, operation, String(workers), ...times, podsPerSecond.toFixed(0), daemon];
}

const comparisonHeader = ['figure', 'measured', 'promised', ''];

function comparisonRow({ name, value, unit, limit, met }: Comparison): string[] {
  const promised = limit === undefined ? '' : `at ${limit.at} ${formatNumber(limit.value)} ${unit}`;
  const verdict = met === undefined ? '' : met ? 'met' : 'MISSED';
  return [name, `${formatNumber(value)} ${unit}`, promised, verdict];
}

/** Three significant digits, and no exponent. */
export function formatNumber(value: number): string {
  if (!Number.isFinite(value)) return '-';
  const digits = Math.max(0, 2 - Math.floor(Math.log10(Math.max(Math.abs(value), 1e-3))));
  return value.toFixed(Math.min(digits, 3));
}

/** Columns of equal width; the first is aligned left, the others right. */
export function formatTable(rows: readonly (readonly string[])[]): string[] {
  const columns = rows[0]?.length ?? 0;
  const widths = Array.from({ length: columns }, (_, column) =>
    Math.max(...rows.map((row) => (row[column] ?? '').length)),
  );
  return rows.map((row) =>
    row
      .map((cell, column) =>
        column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0),
      )
      .join('  ')
      .trimEnd(),
  );
}
