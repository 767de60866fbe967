import type { Command } from 'commander';
import { parseAddress } from '@podwire/addresses';
import { compact } from '@podwire/platform';
import { openLocatedApi } from '../api/locate.js';
import type { BlockView, IpamView, LeaseView, PoolView } from '../api/shapes.js';
import { readIp } from '../cluster/arguments.js';
import { defineClusterIpam } from '../cluster/ipam-commands.js';
import { addStore, locateCluster } from '../cluster/options.js';
import {
  addAgent,
  addEverywhere,
  addExamples,
  addOutput,
  addSocket,
  optionsOf,
  outputOf,
} from '../command.js';
import { ApiError, type LocalApi } from '@podwire/local-api';
import { formatCount } from '../render/counts.js';
import type { Column, TableOptions } from '../render/table.js';
import { addWatch, showView } from '../output/show.js';
import { colorsFor, type Io, printable, widthOf, writeJson, writeLines } from '../io.js';

export function define(command: Command, io: Io): void {
  command
    .description(
      'Shows and repairs address allocations: of the whole cluster with a store (--store, --config of an agent in a cluster, or PODWIRE_STORE), else of this node, from its agent.',
    )
    .addHelpText('after', '\nWithout a sub-command: what this node has, as `podwire ipam node`.')
    .action(() => showNode(command, io));
  addEverywhere(addOutput(addAgent(command), ['text', 'wide', 'json']));
  defineShow(command.command('show'), io);
  defineNode(command.command('node'), io);
  defineClusterIpam(command, io);
}

function defineShow(show: Command, io: Io): void {
  show
    .summary('pools and blocks with their usage; the owner of an address')
    .description(
      'Shows the pools of the cluster: addresses in use, lent, reserved and free; with --blocks also the node of each block. Without a store, the pools and blocks of this node: used, cooling (released a moment ago, see coolDown), reserved and free. With --ip, the state of one address.',
    )
    .option('--ip <address>', 'one address', readIp)
    .option('--leases', 'every address in use with its owner')
    .option('--blocks', 'every block with its node (cluster)')
    .option('--borrowed', 'addresses that nodes have of blocks of others (cluster)')
    .option('--configuration', 'the settings of the pools (cluster)')
    .action(() => showEither(show, io));
  addOutput(addSocket(addStore(addWatch(show))), ['text', 'wide', 'json']);
  addExamples(show, [
    ['podwire ipam show', ''],
    ['podwire ipam show --store etcd://10.0.0.1:2379 --blocks', ''],
    ['podwire ipam show --leases', ''],
    ['podwire ipam show --ip 10.244.0.7', ''],
    [
      'podwire ipam show -o json',
      'a node: {"networks":[…]}; a cluster: {"pools":[…],"loans":[…]}; --ip: one object',
    ],
  ]);
}

function defineNode(node: Command, io: Io): void {
  node
    .summary('addresses of this node, from its agent')
    .description('Shows the addresses of this node, from its agent: also those that cool down.')
    .option('--ip <address>', 'one address', readIp)
    .option('--leases', 'every address in use with its owner')
    .action(() => showNode(node, io));
  addOutput(addAgent(addWatch(node)), ['text', 'wide', 'json']);
  addExamples(node, [
    ['podwire ipam node', ''],
    ['podwire ipam node --leases', ''],
    ['podwire ipam node -o json', '{"networks":[…]}'],
  ]);
}

/** Of the cluster when one is named; a socket names an agent. */
async function showEither(command: Command, io: Io): Promise<void> {
  const { socket } = optionsOf(command) as { socket?: string };
  const place = socket === undefined ? await locateCluster(command, io) : undefined;
  if (place === undefined) return showNode(command, io);
  const { showOfCluster } = await import('../cluster/ipam-show.js');
  return showOfCluster(command, io, place);
}

async function showNode(command: Command, io: Io): Promise<void> {
  const { ip, leases } = optionsOf(command) as { ip?: string; leases?: boolean };
  const api = await openLocatedApi(command, io);
  if (ip !== undefined) return showAddress(command, io, await describeAddress(api, ip));
  return showView<IpamView>(command, io, {
    read: () => api.get('/v1/ipam'),
    data: (view) => view,
    lines: (view) => renderNodeIpam(view, leases === true, io),
  });
}

async function renderNodeIpam(view: IpamView, leases: boolean, io: Io): Promise<string[]> {
  const { renderTable } = await import('../render/table.js');
  const paint = colorsFor(io, io.stdout);
  const width = widthOf(io);
  return view.networks.flatMap(({ network, pools, leases: held, foreign }) => [
    ...(view.networks.length === 1 ? [] : [paint.bold(`network ${printable(network)}`)]),
    ...renderTable(poolTable(pools, paint.bold), paint, width),
    ...(leases ? ['', ...renderTable(leaseTable(held), paint, width)] : []),
    ...foreign.map(
      ({ address, owner, pod }) => `outside every pool of this node: ${address}, ${printable(pod ?? owner)}`,
    ),
  ]);
}

const poolHead: readonly Column[] = [
  { title: 'POOL / BLOCK' },
  { title: 'SIZE', right: true, importance: 3 },
  { title: 'USED', right: true, importance: 5 },
  { title: 'COOLING', right: true, importance: 1 },
  { title: 'RESERVED', right: true, importance: 2 },
  { title: 'FREE', right: true, importance: 4 },
];

export function poolTable(pools: readonly PoolView[], bold: (text: string) => string): TableOptions {
  const rows = pools.flatMap((pool) => [poolRow(pool, bold), ...pool.blocks.map(blockRow)]);
  return { head: poolHead, rows };
}

function poolRow(pool: PoolView, bold: (text: string) => string): string[] {
  const { name, cidr, size, used, cooling, reserved, free } = pool;
  const title = name === cidr ? cidr : `${printable(name)} (${cidr})`;
  return [bold(title), ...[size, used, cooling, reserved, free].map(formatCount)];
}

function blockRow({ cidr, used, cooling, reserved, free }: BlockView): string[] {
  const size = used + cooling + reserved + free;
  return [`  ${cidr}`, ...[size, used, cooling, reserved, free].map(formatCount)];
}

function leaseTable(leases: readonly LeaseView[]): TableOptions {
  const rows = leases.map(({ address, owner, pod, since, pool }) => [
    address,
    printable(pod ?? owner),
    since,
    pool,
  ]);
  const head: Column[] = [
    { title: 'ADDRESS' },
    { title: 'POD', cut: 'name', importance: Infinity },
    { title: 'SINCE', cut: 'never', importance: 1 },
    { title: 'POOL', importance: 2 },
  ];
  return { head, rows };
}

/** Output of `--ip`. */
export interface AddressView {
  readonly address: string;
  /** `available` includes addresses that cool down after their last owner. */
  readonly state: 'used' | 'available' | 'unavailable';
  readonly owner?: string;
  readonly pod?: string;
  readonly since?: string;
  readonly network?: string;
  /** Why it is not available, in the agent's words. */
  readonly reason?: string;
}

async function describeAddress(api: LocalApi, address: string): Promise<AddressView> {
  const { formatAddress } = await import('@podwire/addresses');
  const canonical = formatAddress(parseAddress(address));
  const { networks } = await api.get<IpamView>('/v1/ipam');
  for (const { network, leases, foreign } of networks) {
    const lease = leases.find((each) => each.address === canonical);
    if (lease !== undefined) {
      const { owner, pod, since } = lease;
      return { address: canonical, state: 'used', owner, ...compact({ pod }), since, network };
    }
    const other = foreign.find((each) => each.address === canonical);
    if (other !== undefined) {
      const { owner, pod } = other;
      return { address: canonical, state: 'used', owner, ...compact({ pod }), network };
    }
  }
  return askWhetherFree(
    api,
    canonical,
    networks.map(({ network }) => network),
  );
}

/** The agent's own rules decide: a pod that asks for the address is planned, in one network after the other. */
async function askWhetherFree(
  api: LocalApi,
  address: string,
  networks: readonly string[],
): Promise<AddressView> {
  let reason = '';
  for (const network of networks) {
    try {
      await api.post('/v1/plan', { args: `IP=${address}`, config: { network } });
      return { address, state: 'available', network };
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      reason = error.failure.message;
    }
  }
  return { address, state: 'unavailable', reason };
}

function showAddress(command: Command, io: Io, view: AddressView): void {
  if (outputOf(command) === 'json') return writeJson(io, view);
  return writeLines(io, [describeState(view)]);
}

function describeState(view: AddressView): string {
  const { address, state, owner = '', pod, since, network, reason = '' } = view;
  const where = network === undefined ? '' : ` (network ${printable(network)})`;
  if (state === 'used') {
    return `${address}: used by ${printable(pod ?? owner)}${since === undefined ? '' : ` since ${since}`}${where}`;
  }
  if (state === 'available')
    return `${address}: unallocated${where}; a pod can request it unless it still cools down`;
  return `${address}: not available: ${printable(reason)}`;
}
