import { formatConditions } from '../machine.js';
import type { Summary } from '../statistics.js';
import { formatNumber, formatTable } from '../table.js';
import { type Comparison, evaluate, formatComparisons, least, most } from '../thresholds.js';
import type { PolicyResult } from './run-policy.js';
import type { TrafficRow } from './traffic/traffic.js';

/** Figures of policy with their thresholds. */
export function comparePolicy(result: PolicyResult): Comparison[] {
  return [...compareWays(result), ...compareSizes(result), ...compareTraffic(result.traffic)];
}

function compareWays({ adds, changes, joins }: PolicyResult): Comparison[] {
  const add = `ADD p50, ${adds.policies} policies, ${adds.knownPods} known pods`;
  const change = `a change on ${changes.nodes} nodes, ${changes.pods} pods`;
  const join = `a pod joins ${joins.selectors} selectors`;
  return [
    evaluate(`${add}: a replica, of that without policy`, adds.ratios.replica, '×', most(1.25)),
    evaluate('the same for the only one of its kind, again and again', adds.ratios.alone, '×', most(1.25)),
    evaluate('the same for the first of its kind', adds.ratios.first, '×'),
    evaluate(`${change}, in force after it is written, p99`, changes.inForce.p99, 'ms', most(100)),
    evaluate(`${join}, kernel time`, joins.kernel, 'ms', most(5)),
    evaluate(`${join}, from the change to the kernel's answer, p50`, joins.wall.median, 'ms'),
    evaluate('the same pod leaves, kernel time', joins.leave.kernel, 'ms', most(5)),
  ];
}

function compareSizes({ namespaces, compile, agents, options }: PolicyResult): Comparison[] {
  const { flows, podsOnNode, size, wall, iptables } = namespaces;
  const between = `${flows} flows between two namespaces`;
  const { knownPods, policies, resident, restart } = agents;
  const agent = `agent with ${knownPods} pods of other nodes, ${policies} policies`;
  const entries = size.elements + size.rules;
  const all = `${options.compile.pods} pods, ${options.compile.policies} policies`;
  return [
    evaluate(`${between}, elements and rules, ${podsOnNode} pods here`, entries, 'entries', most(1000)),
    evaluate(`${between}, in force, p50`, wall.median, 'ms', most(200)),
    evaluate(`${between}, in force, p99`, wall.p99, 'ms', most(200)),
    evaluate('the flows of one direction as rules, by iptables-legacy-restore', iptables, 'ms'),
    evaluate(`compiled from nothing: ${all}, p50`, compile.fromNothing.median, 'ms', most(500)),
    evaluate(`${agent}, resident`, resident.grown / 1e6, 'MB', most(150)),
    evaluate('the same after a restart', resident.restarted / 1e6, 'MB', most(150)),
    evaluate('the same, from the start until all is in force', restart, 'ms'),
  ];
}

/** Compares figures with more rules to those with one. */
function compareTraffic(rows: readonly TrafficRow[]): Comparison[] {
  return rows
    .filter(({ name, rules }) => name === 'podwire' && rules > 1)
    .flatMap(({ rules, ratios }) => [
      evaluate(`TCP stream through ${rules} policies, of that through 1`, ratios.stream, '×', least(0.95)),
      evaluate('bytes there and back, the same', ratios.turn, '×', least(0.95)),
      evaluate('connections, the same', ratios.connection, '×'),
    ]);
}

function formatTraffic(rows: readonly TrafficRow[]): string[] {
  return formatTable([
    ['packets through', 'rules', 'Gbit/CPU s', 'of 1', 'µs/turn', 'of 1', 'µs/connection', 'of 1'],
    ...rows.map(({ name, rules, stream, turn, connection, ratios }) => [
      ...[name, String(rules)],
      ...[stream, ratios.stream, turn, ratios.turn, connection, ratios.connection].map(formatNumber),
    ]),
  ]);
}

export function formatPolicy(result: PolicyResult): string {
  const { adds, changes, joins, namespaces, compile } = result;
  const row = (what: string, { count, median, p99 }: Summary): string[] => [
    what,
    String(count),
    ...[median, p99].map(formatNumber),
  ];
  return [
    `Policy: ${formatConditions(result)}`,
    '',
    ...formatTable([
      ['milliseconds', 'count', 'p50', 'p99'],
      row('ADD without policy', adds.without),
      row('ADD of a replica', adds.replica),
      row('ADD of the only one of its kind, again and again', adds.alone),
      row('ADD of the first of its kind', adds.first),
      row('a policy is written', changes.written),
      row('from then in force on all nodes', changes.inForce),
      row('a pod joins: all of it', joins.wall),
      row('  compiler', joins.compile),
      row('  renderer', joins.render),
      row('  engine, netlink and kernel', joins.exchange),
      row('two namespaces: all of it', namespaces.wall),
      row('compiled from nothing', compile.fromNothing),
    ]),
    '',
    ...formatTraffic(result.traffic),
    '',
    ...formatComparisons(comparePolicy(result)),
  ].join('\n');
}
