/** The cluster as tables. Pure. */
import type {
  BlockShown,
  ClusterShown,
  BorrowedAddressShown,
  NodeShown,
  PoolShown,
} from '@podwire/cluster-ipam/operations';
import type { Workload } from '@podwire/cluster-state';
import { type Colors, printable } from '../io.js';
import { formatCount } from '../render/counts.js';
import type { Column, TableOptions } from '../render/table.js';
import { formatAge } from '../render/times.js';

type State = 'enabled' | 'disabled' | 'deleting';

export function stateOfPool({ configuration: { disabled, deleting } }: PoolShown): State {
  return deleting ? 'deleting' : disabled ? 'disabled' : 'enabled';
}

export function poolTable(pools: readonly PoolShown[]): TableOptions {
  return {
    head: [
      'NAME',
      { title: 'NETWORK', importance: 2 },
      { title: 'CIDR', cut: 'middle', least: 18, importance: 9 },
      { title: 'BLOCK', right: true, importance: 3 },
      { title: 'BLOCKS', right: true, importance: 4 },
      { title: 'IN USE', right: true, importance: 8 },
      { title: 'FREE', right: true, importance: 7 },
      { title: 'ENCAPSULATION', importance: 5 },
      { title: 'STATE', cut: 'never', importance: 6 },
    ],
    rows: pools.map((pool) => [
      printable(pool.name),
      printable(pool.network),
      pool.cidr,
      `/${pool.configuration.blockSize}`,
      `${pool.blocks.length}`,
      formatCount(`${pool.inUse}`),
      formatCount(pool.free),
      pool.configuration.encapsulation,
      stateOfPool(pool),
    ]),
  };
}

/** Pools, and below each its blocks when they are wanted. */
export function usageTable({ pools }: ClusterShown, withBlocks: boolean, paint: Colors): TableOptions {
  const rows = pools.flatMap((pool) => [
    usageRow(pool, withBlocks, paint),
    ...(withBlocks ? pool.blocks.map(blockRow) : []),
  ]);
  const count = (title: string, importance: number): Column => ({ title, right: true, importance });
  const head: Column[] = [
    { title: withBlocks ? 'POOL / BLOCK' : 'POOL' },
    count('BLOCKS', 3),
    ...(withBlocks ? [{ title: 'NODE', importance: 8 }] : []),
    count('TOTAL', 5),
    count('IN USE', 9),
    count('LENT', 4),
    count('RESERVED', 2),
    count('FREE', 7),
    { title: 'STATE', cut: 'never', importance: 6 },
  ];
  return { head, rows };
}

function usageRow(pool: PoolShown, withBlocks: boolean, paint: Colors): string[] {
  const { name, cidr, blocks, total, inUse, lent, reserved, free } = pool;
  const title = paint.bold(`${printable(name)} (${cidr})`);
  const numbers = [total, inUse, lent, reserved, free].map(formatCount);
  return [title, `${blocks.length}`, ...(withBlocks ? [''] : []), ...numbers, stateOfPool(pool)];
}

function blockRow({ cidr, node, state, size, inUse, lent }: BlockShown): string[] {
  const owner = node === undefined ? '-' : printable(node);
  return [`  ${cidr}`, '', owner, `${size}`, `${inUse}`, `${lent}`, '', `${size - inUse}`, state];
}

export function blockTable(blocks: readonly BlockShown[]): TableOptions {
  const rows = blocks.map(({ cidr, node, state, size, inUse, lent }) => [
    cidr,
    node === undefined ? '-' : printable(node),
    state,
    `${size}`,
    `${inUse}`,
    `${lent}`,
  ]);
  const head = ['BLOCK', 'NODE', { title: 'STATE', cut: 'never' as const }, 'SIZE', 'IN USE', 'LENT'];
  return { head, rows, right: [3, 4, 5] };
}

export function borrowedTable(loans: readonly BorrowedAddressShown[]): TableOptions {
  const rows = loans.map(({ address, block, owner, borrower, pod }) => [
    address,
    block,
    owner === undefined ? '-' : printable(owner),
    printable(borrower),
    printable(pod ?? ''),
  ]);
  const head: Column[] = [
    { title: 'ADDRESS' },
    { title: 'BLOCK', cut: 'middle', importance: 1 },
    { title: 'OF NODE', importance: 3 },
    { title: 'LENT TO', importance: 4 },
    { title: 'POD', cut: 'name', importance: 5 },
  ];
  return { head, rows };
}

export function nodeTable(nodes: readonly NodeShown[], now: number, paint: Colors): TableOptions {
  const rows = nodes.map((node) => [
    printable(node.name),
    paintState(node.state, paint),
    node.since === undefined ? '' : formatAge(now - node.since),
    `${node.blocks.length}`,
    `${node.inUse}`,
    `${node.borrowed.length}`,
    printable(node.version ?? ''),
    [node.addresses.ipv4, node.addresses.ipv6].filter((text) => text !== undefined).join(' '),
  ]);
  const head: Column[] = [
    { title: 'NAME' },
    { title: 'STATE', cut: 'never', importance: Infinity },
    { title: 'SINCE', right: true, importance: 6 },
    { title: 'BLOCKS', right: true, importance: 3 },
    { title: 'IN USE', right: true, importance: 5 },
    { title: 'BORROWED', right: true, importance: 1 },
    { title: 'VERSION', cut: 'never', importance: 2 },
    { title: 'ADDRESSES', cut: 'list', least: 18, importance: 4 },
  ];
  return { head, rows };
}

export function paintState(state: NodeShown['state'], paint: Colors): string {
  if (state === 'ready') return paint.green(state);
  return state === 'unreachable' ? paint.red(state) : paint.yellow(state);
}

export function workloadTable(workloads: readonly Workload[]): TableOptions {
  const rows = workloads.map(({ network, namespace, name, addresses, pools, sticky, assigned }) => [
    printable(network),
    printable(`${namespace}/${name}`),
    addresses.join(' '),
    printable(pools.join(' ')),
    sticky ? 'yes' : 'no',
    printable(
      Object.entries(assigned)
        .map(([pod, own]) => `${pod}=${own.join('+')}`)
        .join(' '),
    ),
  ]);
  const head: Column[] = [
    { title: 'NETWORK', cut: 'end', importance: 1 },
    { title: 'PODS', cut: 'name', importance: Infinity },
    { title: 'ADDRESSES', cut: 'list', least: 18, importance: 5 },
    { title: 'POOLS', cut: 'list', importance: 4 },
    { title: 'STICKY', cut: 'never', importance: 2 },
    { title: 'ASSIGNED', cut: 'list', least: 20, importance: 3 },
  ];
  return { head, rows };
}

interface Lease {
  readonly address: string;
  readonly owner: string;
  readonly pod?: string | undefined;
  readonly node: string;
  readonly since: number;
}

/** Every address in use, as it is given. */
export function leaseTable(leases: readonly Lease[], now: number): TableOptions {
  const rows = leases.map(({ address, pod, owner, node, since }) => [
    address,
    printable(pod ?? owner),
    printable(node),
    formatAge(now - since),
  ]);
  const head: Column[] = [
    { title: 'ADDRESS' },
    { title: 'POD', cut: 'name', importance: Infinity },
    { title: 'NODE', importance: 3 },
    { title: 'AGE', cut: 'never', importance: 2 },
  ];
  return { head, rows };
}
