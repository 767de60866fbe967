/** Connectivity matrix, for people. */
import type { ConnectivityReport, Participant, ProbeResult } from '@podwire/testbed';
import { type Colors, printable } from '../io.js';
import { type Column, renderTable } from '../render/table.js';
import { measureText } from '../render/text.js';
import { formatMilliseconds } from '../render/times.js';

/** One row or column: a participant, or all that are on a node. */
interface Line {
  readonly title: string;
  readonly names: ReadonlySet<string>;
}

const shortName = (name: string): string => printable(name.replace(/^default\//, ''));

const linesOfParticipants = (parties: readonly Participant[]): Line[] =>
  parties.map(({ name }) => ({ title: shortName(name), names: new Set([name]) }));

/** Each node with its pods. */
function linesOfNodes(parties: readonly Participant[]): Line[] {
  const titles = [...new Set(parties.map(({ node, name }) => node ?? name))];
  return titles.map((title) => ({
    title,
    names: new Set(parties.filter(({ node, name }) => (node ?? name) === title).map(({ name }) => name)),
  }));
}

/** How much a table tells: every participant, nodes with their pods, or nodes with a mark alone. */
type Detail = 'parties' | 'nodes' | 'marks';

const legends: Readonly<Record<Detail, readonly string[]>> = {
  parties: ['In each cell: TCP both ways; slowest round trip of a full-size datagram, in ms.'],
  nodes: ['Each row and column is a node with its pods.'],
  marks: ['✓: all questions were answered. Each row and column is a node with its pods.'],
};

const deniedLegend = '⊘: policy denies it, and nothing was answered.';

const details: readonly Detail[] = ['parties', 'nodes', 'marks'];
const corners: Readonly<Record<Detail, string>> = {
  parties: 'FROM \\ TO',
  nodes: 'ANSWERED',
  marks: 'FROM \\ TO',
};

/** As much as fits into the width. */
export function renderMatrix(
  { parties, results }: ConnectivityReport,
  width: number,
  paint: Colors,
): string[] {
  const lines = { parties: linesOfParticipants(parties), nodes: linesOfNodes(parties) };
  const asked = results.filter(({ kind }) => kind !== 'vacant');
  const render = (detail: Detail, room: number): string[] => {
    const table = matrixOf(detail === 'parties' ? lines.parties : lines.nodes, asked, detail, paint);
    return renderTable(table, paint, room);
  };
  const fits = (detail: Detail): boolean =>
    render(detail, Infinity).every((line) => measureText(line) <= width);
  const detail = details.find(fits) ?? 'marks';
  const isDenied = asked.some(({ expected, ok }) => ok && expected === 'deny');
  const legend = [...legends[detail], ...(isDenied && detail === 'parties' ? [deniedLegend] : [])];
  return [...render(detail, width), '', ...legend.map(paint.dim)];
}

function matrixOf(lines: readonly Line[], asked: readonly ProbeResult[], detail: Detail, paint: Colors) {
  const between = (row: Line, column: Line): readonly ProbeResult[] =>
    asked.filter(({ from, to }) => row.names.has(from) && column.names.has(to));
  const rows = lines
    .filter(({ names }) => asked.some(({ from }) => names.has(from)))
    .map((row) => [
      paint.bold(row.title),
      ...lines.map((column) => renderCell(between(row, column), detail, paint)),
    ]);
  const head = lines.map(({ title, names }, index): Column => {
    const isWell = asked.every(({ to, ok }) => ok || !names.has(to));
    // Where there is no room for all, those that are not reached stay.
    const importance = (isWell ? 0 : lines.length) - index;
    const short = detail === 'marks' ? title.replace(/^node(?=\d)|(?<=^out)side$/, '') : title;
    return { title: short, cut: 'never', importance };
  });
  return { head: [corners[detail], ...head], rows };
}

function renderCell(results: readonly ProbeResult[], detail: Detail, paint: Colors): string {
  if (results.length === 0) return paint.dim('·');
  const failed = results.filter(({ ok }) => !ok);
  if (detail === 'marks') return failed.length === 0 ? paint.green('✓') : paint.red('✗');
  if (detail === 'nodes') {
    const answered = `${results.length - failed.length}/${results.length}`;
    return failed.length > 0 ? paint.red(`✗ ${answered}`) : `${paint.green('✓')} ${answered}`;
  }
  if (failed.length > 0) return paint.red(`✗${describeCell(results, failed)}`);
  const denied = results.filter(({ expected }) => expected === 'deny');
  if (denied.length > 0) return paint.green(`⊘${describeCell(results, denied)}`);
  const slowest = Math.max(
    ...results.filter(({ kind }) => kind !== 'tcp').map(({ milliseconds }) => milliseconds),
  );
  return `${paint.green('✓')} ${slowest.toFixed(1)}`;
}

/** The common property of all failures of a cell that no success shares: `IPv6`, `udp`. */
function describeCell(results: readonly ProbeResult[], failed: readonly ProbeResult[]): string {
  if (failed.length === results.length) return '';
  const [one] = failed;
  if (failed.every(({ family }) => family === one?.family)) return ` IPv${one?.family}`;
  if (failed.every(({ kind }) => kind === one?.kind)) return ` ${one?.kind}`;
  return ` ${results.length - failed.length}/${results.length}`;
}

/** Failures that are shown. */
const mostLines = 20;

export function renderFailures({ results }: ConnectivityReport, paint: Colors): string[] {
  const failed = results.filter(({ ok }) => !ok);
  if (failed.length === 0) return [];
  const lines = groupFailures(failed).map(describeFailures);
  const more = lines.length - mostLines;
  return [
    ...lines.slice(0, mostLines).map((line) => paint.red(`✗ ${line}`)),
    ...(more > 0 ? [paint.red(`  and ${more} more; -o json lists all`)] : []),
    ...blame(failed, results).map((line) => paint.yellow(line)),
  ];
}

/** Those between the same two, with the same words, are one line. */
function groupFailures(failed: readonly ProbeResult[]): ProbeResult[][] {
  const groups = new Map<string, ProbeResult[]>();
  for (const result of failed) {
    const { from, to, kind, words = '' } = result;
    const key = JSON.stringify([from, to, kind === 'vacant', withoutSize(words)]);
    groups.set(key, [...(groups.get(key) ?? []), result]);
  }
  return [...groups.values()];
}

/** A datagram that is not answered says how large it was. */
const withoutSize = (words: string): string => words.replace(/ \(\d+ bytes\)$/, '');

const tried: Readonly<Record<ProbeResult['kind'], readonly [one: string, several: string]>> = {
  icmp: ['a full-size echo to', 'full-size echoes'],
  tcp: ['TCP to', 'TCP'],
  udp: ['a full-size datagram to', 'full-size datagrams'],
  vacant: ['to an unused address,', 'to unused addresses'],
};

function describeFailures(group: readonly ProbeResult[]): string {
  const [first] = group;
  if (first === undefined) return '';
  const { from, fromNode, to, toNode, address, words = '' } = first;
  const families = [...new Set(group.map(({ family }) => `IPv${family}`))].join(' and ');
  const kinds = [...new Set(group.map(({ kind }) => kind))];
  const what =
    group.length === 1
      ? `${tried[first.kind][0]} ${address}`
      : kinds.map((kind) => tried[kind][1]).join(' and ');
  const why = kinds.length === 1 ? words : withoutSize(words);
  return `${placed(from, fromNode)} → ${placed(to, toNode)}, ${families}, ${what}: ${printable(why)}`;
}

const placed = (name: string, node: string | undefined): string =>
  node === undefined || node === name ? shortName(name) : `${shortName(name)} (${node})`;

/** The common property of all failures. */
function blame(failed: readonly ProbeResult[], results: readonly ProbeResult[]): string[] {
  if (failed.length < 3) return [];
  const [first] = failed;
  const common = [first?.fromNode, first?.toNode].filter(
    (node) => node !== undefined && failed.every((result) => involves(result, node)),
  );
  // Of two, the one that no other participant reaches.
  const alone = new Set(common).size === 1 ? common : common.filter((node) => !isReached(node, results));
  const families = new Set(failed.map(({ family }) => family));
  return [
    ...(new Set(alone).size === 1 ? [`All of it has to do with ${alone[0]}.`] : []),
    ...(families.size === 1 ? [`All of it is IPv${[...families].join('')}.`] : []),
  ];
}

const involves = ({ fromNode, toNode }: ProbeResult, node: string | undefined): boolean =>
  fromNode === node || toNode === node;

const isAnswered = ({ ok, expected }: ProbeResult): boolean => ok && expected !== 'deny';

/** Something passes between this node and another place. */
const isReached = (node: string | undefined, results: readonly ProbeResult[]): boolean =>
  results.some((result) => isAnswered(result) && result.fromNode !== result.toNode && involves(result, node));

export function renderSummary({ results, milliseconds, ok }: ConnectivityReport, paint: Colors): string[] {
  const good = results.filter((each) => each.ok);
  const times = good
    .filter(({ kind, expected }) => (kind === 'udp' || kind === 'icmp') && expected !== 'deny')
    .map((each) => each.milliseconds);
  const median = times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)];
  const middle = median === undefined ? '' : `, median ${formatMilliseconds(median)} for a round trip`;
  const summary = `${good.length} of ${results.length} as expected in ${formatMilliseconds(milliseconds)}${middle}.`;
  return [
    ...renderUnusedAddresses(results, paint),
    ...renderDenied(results, paint),
    ok ? paint.green(summary) : paint.red(summary),
  ];
}

/** Number of connections that policy denies, and of those that were dropped. */
function renderDenied(results: readonly ProbeResult[], paint: Colors): string[] {
  const denied = results.filter(({ expected }) => expected === 'deny');
  if (denied.length === 0) return [];
  const dropped = denied.filter(({ ok }) => ok).length;
  return [paint.dim(`Denied by policy: ${denied.length} asked, ${dropped} not answered.`)];
}

function renderUnusedAddresses(results: readonly ProbeResult[], paint: Colors): string[] {
  const unused = results.filter(({ kind, ok }) => kind === 'vacant' && ok);
  if (unused.length === 0) return [];
  const refused = unused.filter(({ words = '' }) => words.startsWith('refused')).length;
  const how = [
    ...(refused > 0 ? [`${refused} refused`] : []),
    ...(unused.length > refused ? [`${unused.length - refused} dropped silently`] : []),
  ];
  return [paint.dim(`Unused addresses: ${unused.length} asked, ${how.join(', ')}.`)];
}
