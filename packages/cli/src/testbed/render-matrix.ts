/** Who reaches whom, for people. */
import type { ConnectivityReport, Party, ProbeResult } from '@podwire/testbed';
import { type Colors, printable } from '../io.js';
import { renderTable } from '../render/table.js';
import { formatMilliseconds } from '../render/times.js';

/** One row or column: a party, or all that are on a node. */
interface Line {
  readonly title: string;
  readonly names: ReadonlySet<string>;
}

const shortName = (name: string): string => printable(name.replace(/^default\//, ''));

const linesOfParties = (parties: readonly Party[]): Line[] =>
  parties.map(({ name }) => ({ title: shortName(name), names: new Set([name]) }));

/** Each node with its pods. */
function linesOfNodes(parties: readonly Party[]): Line[] {
  const titles = [...new Set(parties.map(({ node, name }) => node ?? name))];
  return titles.map((title) => ({
    title,
    names: new Set(parties.filter(({ node, name }) => (node ?? name) === title).map(({ name }) => name)),
  }));
}

/** Of a table with so many columns that it fits; the larger one where it can be. */
export function renderMatrix(
  { parties, results }: ConnectivityReport,
  width: number,
  paint: Colors,
): string[] {
  const asked = results.filter(({ kind }) => kind !== 'vacant');
  const whole = linesOfParties(parties);
  const cell = (each: Line): number => Math.max(each.title.length, 7) + 3;
  const needed = whole.reduce((sum, each) => sum + cell(each), 12);
  const lines = needed <= width ? whole : linesOfNodes(parties);
  const columns = lines;
  const rows = lines
    .filter(({ names }) => asked.some(({ from }) => names.has(from)))
    .map((row) => [
      paint.bold(row.title),
      ...columns.map((column) =>
        renderCell(
          asked.filter(({ from, to }) => row.names.has(from) && column.names.has(to)),
          lines !== whole,
          paint,
        ),
      ),
    ]);
  const legend =
    lines === whole
      ? 'In each cell: TCP both ways, and the slowest round trip of a full-size datagram in ms.'
      : 'Each row and column is a node with its pods. In each cell: how many questions were answered rightly.';
  return [
    ...renderTable({ head: ['FROM \\ TO', ...columns.map(({ title }) => title)], rows }, paint),
    '',
    paint.dim(legend),
  ];
}

function renderCell(results: readonly ProbeResult[], counted: boolean, paint: Colors): string {
  if (results.length === 0) return paint.dim('·');
  const failed = results.filter(({ ok }) => !ok);
  if (counted && failed.length > 0) return paint.red(`✗ ${results.length - failed.length}/${results.length}`);
  if (counted) return `${paint.green('✓')} ${results.length}`;
  if (failed.length > 0) return paint.red(`✗${describeCell(results, failed)}`);
  const slowest = Math.max(
    ...results.filter(({ kind }) => kind === 'udp').map(({ milliseconds }) => milliseconds),
  );
  return `${paint.green('✓')} ${slowest.toFixed(1)}`;
}

/** What all failures of a cell have in common that its successes have not: `IPv6`, `udp`. */
function describeCell(results: readonly ProbeResult[], failed: readonly ProbeResult[]): string {
  if (failed.length === results.length) return '';
  const [one] = failed;
  if (failed.every(({ family }) => family === one?.family)) return ` IPv${one?.family}`;
  if (failed.every(({ kind }) => kind === one?.kind)) return ` ${one?.kind}`;
  return ` ${results.length - failed.length}/${results.length}`;
}

/** Failures that are shown one by one. */
const mostLines = 20;

export function renderFailures({ results }: ConnectivityReport, paint: Colors): string[] {
  const failed = results.filter(({ ok }) => !ok);
  if (failed.length === 0) return [];
  const shown = failed.slice(0, mostLines).map((result) => paint.red(`✗ ${describeFailure(result)}`));
  const more = failed.length - shown.length;
  return [
    ...shown,
    ...(more > 0 ? [paint.red(`  and ${more} more; -o json lists all`)] : []),
    ...blame(failed).map((line) => paint.yellow(line)),
  ];
}

const tried: Readonly<Record<ProbeResult['kind'], string>> = {
  tcp: 'TCP to',
  udp: 'a full-size datagram to',
  vacant: 'to an address that nobody has,',
};

export function describeFailure({
  from,
  fromNode,
  to,
  toNode,
  family,
  kind,
  address,
  words,
}: ProbeResult): string {
  const at = (name: string, node: string | undefined): string =>
    node === undefined || node === name ? printable(name) : `${printable(name)} on ${node}`;
  return `${at(from, fromNode)} → ${at(to, toNode)}, IPv${family}, ${tried[kind]} ${address}: ${printable(words ?? '')}`;
}

/** What everything that failed has in common. */
function blame(failed: readonly ProbeResult[]): string[] {
  if (failed.length < 3) return [];
  const involved = failed.map(({ fromNode, toNode }) => [fromNode, toNode]);
  const nodes = new Set(involved[0]?.filter((node) => node !== undefined));
  const common = [...nodes].filter((node) => involved.every((pair) => pair.includes(node)));
  const families = new Set(failed.map(({ family }) => family));
  return [
    ...(common.length === 1 ? [`All of it has to do with ${common[0]}.`] : []),
    ...(families.size === 1 ? [`All of it is IPv${[...families].join('')}.`] : []),
  ];
}

export function renderVerdict({ results, milliseconds, ok }: ConnectivityReport, paint: Colors): string[] {
  const good = results.filter((each) => each.ok);
  const times = good.filter(({ kind }) => kind === 'udp').map((each) => each.milliseconds);
  const median = times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)];
  const middle = median === undefined ? '' : `, median ${formatMilliseconds(median)} for a round trip`;
  const summary = `${good.length} of ${results.length} as it should be in ${formatMilliseconds(milliseconds)}${middle}.`;
  return [...renderVacancies(results, paint), ok ? paint.green(summary) : paint.red(summary)];
}

function renderVacancies(results: readonly ProbeResult[], paint: Colors): string[] {
  const vacant = results.filter(({ kind, ok }) => kind === 'vacant' && ok);
  if (vacant.length === 0) return [];
  const refused = vacant.filter(({ words = '' }) => words.startsWith('refused')).length;
  const how = [
    ...(refused > 0 ? [`${refused} refused`] : []),
    ...(vacant.length > refused ? [`${vacant.length - refused} dropped in silence`] : []),
  ];
  return [paint.dim(`Addresses that nobody has: ${vacant.length} asked, ${how.join(', ')}.`)];
}
