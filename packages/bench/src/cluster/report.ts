import { type Conditions, formatConditions } from '../machine.js';
import { type Comparison, formatComparisons, evaluate, least, most } from '../thresholds.js';
import { formatNumber, formatTable } from '../table.js';
import type { DisturbedAdds } from './disturbed-adds.js';
import type { ClusterResult } from './run-cluster.js';
import type { Throughput } from './throughput.js';

/** Figures of a cluster with their thresholds. */
export function compareCluster(result: ClusterResult): Comparison[] {
  return [
    ...compareAdds(result),
    ...compareDisturbed(result.disturbed),
    ...compareAddresses(result),
    ...compareGrowth(result),
    ...result.throughput.flatMap(compareThroughput),
  ];
}

function compareAdds({ adds }: ClusterResult): Comparison[] {
  return [
    evaluate('ADD p50 in a cluster, of that alone', adds.up.add.ratio, '×', most(1.15)),
    evaluate('the same with etcd stopped', adds.stopped.add.ratio, '×', most(1.15)),
    evaluate('DEL p50 in a cluster, of that alone', adds.up.del.ratio, '×'),
    evaluate('the same with etcd stopped', adds.stopped.del.ratio, '×'),
  ];
}

/** The ADD of a node with many endpoints that is busy with itself, beside one that is not. */
export const compareDisturbed = (adds: DisturbedAdds): Comparison[] => [
  evaluate(`ADD p99 with ${adds.endpoints} endpoints`, adds.undisturbed.p99, 'ms'),
  evaluate('the same while the node reconciles and pools change', adds.disturbed.p99, 'ms'),
  evaluate('the difference', adds.excess, 'ms', most(adds.budget)),
];

function compareAddresses({ ipam, burst, addresses, claims }: ClusterResult): Comparison[] {
  const pods = `${burst.nodes} nodes, ${burst.pods} pods at once`;
  return [
    evaluate('allocations in memory', ipam.allocationsPerSecond, '/s', least(200_000)),
    evaluate(`${pods}, rate of compare-and-set for each`, burst.ratio, '×', least(3)),
    evaluate('their addresses alone, of compare-and-set for each', addresses.ratio, '×'),
    evaluate('the same until the store knows them', addresses.reportedRatio, '×'),
    evaluate(`calls for a claim beside ${claims.blocks} blocks`, claims.roundTrips, 'calls', most(2)),
    evaluate('lists of all blocks meanwhile', claims.lists, 'calls', most(0)),
    evaluate('a claim, p50', claims.latency.median, 'ms'),
  ];
}

function compareGrowth({ newcomers, manyPeers }: ClusterResult): Comparison[] {
  const peers = `agent with ${manyPeers.peers} peers`;
  const routes = `a newcomer's routes on ${newcomers.followers} others`;
  return [
    evaluate(`${routes}, longest of ${newcomers.newcomers}`, newcomers.longest, 'ms', most(1_000)),
    evaluate(`${routes}, p50`, newcomers.median, 'ms'),
    evaluate(`${peers}, first start to ready`, manyPeers.firstStart, 'ms', most(3_000)),
    evaluate(`${peers}, restart to ready`, manyPeers.restart, 'ms', most(3_000)),
    evaluate(`${peers}, first start until all routes`, manyPeers.allRoutes, 'ms'),
    evaluate(`${peers}, resident`, manyPeers.residentBytes / 1e6, 'MB', most(200)),
  ];
}

function compareThroughput({ encapsulation, family, ratio, masqueradingRatio }: Throughput): Comparison[] {
  const what = `TCP, ${encapsulation}, IPv${family}`;
  return [
    evaluate(`${what}, of the same by hand`, ratio, '×', least(0.97)),
    evaluate(`${what}, of that with a rule that masquerades`, masqueradingRatio, '×'),
  ];
}

export function formatCluster(result: ClusterResult): string {
  const { following, planning } = result;
  return [
    `Many nodes: ${formatConditions(result)}`,
    '',
    ...formatTimes(result),
    '',
    ...formatRates(result),
    '',
    ...formatThroughput(result),
    '',
    ...formatComparisons(compareCluster(result)),
    '',
    ...formatSimulations(result),
    '',
    `What one node pays: following ${following.blocks} blocks ${formatNumber(following.first)} ms at first and ${formatNumber(following.each)} µs for each that changes;`,
    `planning the way to one of ${planning.peers} peers ${formatNumber(planning.each)} µs.`,
    describeDisturbance(result.disturbed),
    '"Agent": what the agent has computed for a call, whatever else it did meanwhile with it.',
    'Ratios of rates are medians over rounds in which both took turns. "Alone": the same agent without a cluster, in the same turns.',
  ].join('\n');
}

const timesHeader = ['one at a time', 'p50 ms', 'p99 ms', 'max ms', 'agent ms', 'samples'];

function formatTimes({ adds, disturbed, claims }: ClusterResult): string[] {
  const rows = (['up', 'stopped'] as const).flatMap((etcd) =>
    (['add', 'del'] as const).flatMap((operation) =>
      (['alone', 'member'] as const).map((who) => {
        const { [who]: summary, computed } = adds[etcd][operation];
        const { median, p99, maximum, count } = summary;
        const what = `${operation.toUpperCase()}, ${who === 'alone' ? 'alone' : 'in a cluster'}, etcd ${etcd}`;
        return [what, ...[median, p99, maximum, computed[who]].map(formatNumber), String(count)];
      }),
    ),
  );
  const { median, p99, maximum, count } = claims.latency;
  const claim = ['claim of a block', ...[median, p99, maximum].map(formatNumber), '', String(count)];
  return formatTable([timesHeader, ...rows, ...rowsOfDisturbed(disturbed), claim]);
}

/** Without what the agent computes: that is mostly the reconciles. */
function rowsOfDisturbed({ endpoints, ...adds }: DisturbedAdds): string[][] {
  return (['undisturbed', 'disturbed'] as const).map((kind) => {
    const { median, p99, maximum, count } = adds[kind];
    const what = `ADD, ${endpoints} endpoints, ${kind}`;
    return [what, ...[median, p99, maximum].map(formatNumber), '', String(count)];
  });
}

const describeDisturbance = ({ reconciles, pools }: DisturbedAdds): string =>
  `"Disturbed": beside ${reconciles} reconciles, one after the other, and ${pools} pools that came and went.`;

/** The rows alone. */
export const formatDisturbed = (adds: DisturbedAdds, conditions: Conditions): string =>
  [
    `ADD on a busy node: ${formatConditions(conditions)}`,
    '',
    ...formatTable([timesHeader, ...rowsOfDisturbed(adds)]),
    '',
    ...formatComparisons(compareDisturbed(adds)),
    '',
    describeDisturbance(adds),
  ].join('\n');

function formatRates({ burst, addresses }: ClusterResult): string[] {
  const row = (what: string, owned: number, compareAndSet: number, ratio: number): string[] => [
    what,
    ...[owned, compareAndSet, ratio].map(formatNumber),
  ];
  const { owned, compareAndSet } = burst.computed;
  const { addresses: count } = addresses;
  return formatTable([
    ['at once on several nodes', 'own blocks', 'compare-and-set', 'ratio'],
    row(`${burst.pods} pods, pods/s`, burst.owned, burst.compareAndSet, burst.ratio),
    row('agents, ms for each', owned.agents, compareAndSet.agents, owned.agents / compareAndSet.agents),
    row('etcd, ms for each', owned.etcd, compareAndSet.etcd, owned.etcd / compareAndSet.etcd),
    row(`${count} addresses alone, /s`, addresses.owned, addresses.compareAndSet, addresses.ratio),
    row(
      'until the store knows them, /s',
      addresses.reported,
      addresses.compareAndSet,
      addresses.reportedRatio,
    ),
  ]);
}

function formatThroughput({ throughput }: ClusterResult): string[] {
  const gigabits = (rates: readonly number[]): string =>
    `${(Math.min(...rates) / 1e9).toFixed(1)} to ${(Math.max(...rates) / 1e9).toFixed(1)}`;
  return formatTable([
    ['TCP from pod to pod, Gbit/s', 'podwire', 'by hand', 'by hand, masquerading'],
    ...throughput.map(({ encapsulation, family, podwire, byHand, masquerading }) => [
      `${encapsulation}, IPv${family}`,
      ...[podwire, byHand, masquerading].map(gigabits),
    ]),
  ]);
}

function formatSimulations({ simulations }: ClusterResult): string[] {
  return formatTable([
    ['simulated nodes', 'pods', 'calls/pod', 'writes/claim', 'slow ADDs', 'IPAM µs', 'plan µs', 'took s'],
    ...simulations.map((one) => [
      String(one.options.nodes),
      String(one.pods),
      ...[one.callsPerPod, one.blockWritesPerClaim].map(formatNumber),
      String(one.slowPaths),
      ...[one.allocation, one.planning, one.real / 1_000].map(formatNumber),
    ]),
  ]);
}
