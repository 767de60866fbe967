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
import { groupDigits } from '../render/digits.js';
import type { TableOptions } from '../render/table.js';
import { formatAge } from '../render/times.js';

type State = 'enabled' | 'disabled' | 'deleting';

export function stateOfPool({ configuration: { disabled, deleting } }: PoolShown): State {
  return deleting ? 'deleting' : disabled ? 'disabled' : 'enabled';
}

export function poolTable(pools: readonly PoolShown[]): TableOptions {
  return {
    head: ['NAME', 'NETWORK', 'CIDR', 'BLOCK', 'BLOCKS', 'IN USE', 'FREE', 'ENCAPSULATION', 'STATE'],
    rows: pools.map((pool) => [
      printable(pool.name),
      printable(pool.network),
      pool.cidr,
      `/${pool.configuration.blockSize}`,
      `${pool.blocks.length}`,
      groupDigits(`${pool.inUse}`),
      groupDigits(pool.free),
      pool.configuration.encapsulation,
      stateOfPool(pool),
    ]),
    right: [3, 4, 5, 6],
  };
}

/** Pools, and below each its blocks when they are wanted. */
export function usageTable({ pools }: ClusterShown, withBlocks: boolean, paint: Colors): TableOptions {
  const rows = pools.flatMap((pool) => [
    usageRow(pool, paint),
    ...(withBlocks ? pool.blocks.map(blockRow) : []),
  ]);
  const head = ['POOL', 'BLOCKS', 'TOTAL', 'IN USE', 'LENT', 'RESERVED', 'FREE', 'STATE'];
  if (!withBlocks) return { head, rows, right: [1, 2, 3, 4, 5, 6] };
  return { head: ['POOL / BLOCK', 'NODE', ...head.slice(2)], rows, right: [2, 3, 4, 5, 6] };
}

function usageRow(pool: PoolShown, paint: Colors): string[] {
  const { name, cidr, blocks, total, inUse, lent, reserved, free } = pool;
  const title = paint.bold(`${printable(name)} (${cidr})`);
  const numbers = [total, `${inUse}`, `${lent}`, reserved, free].map(groupDigits);
  return [title, `${blocks.length}`, ...numbers, stateOfPool(pool)];
}

function blockRow({ cidr, node, state, size, inUse, lent }: BlockShown): string[] {
  const owner = node === undefined ? '-' : printable(node);
  return [`  ${cidr}`, owner, `${size}`, `${inUse}`, `${lent}`, '', `${size - inUse}`, state];
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
  return { head: ['BLOCK', 'NODE', 'STATE', 'SIZE', 'IN USE', 'LENT'], rows, right: [3, 4, 5] };
}

export function borrowedTable(loans: readonly BorrowedAddressShown[]): TableOptions {
  const rows = loans.map(({ address, block, owner, borrower, pod }) => [
    address,
    block,
    owner === undefined ? '-' : printable(owner),
    printable(borrower),
    printable(pod ?? ''),
  ]);
  return { head: ['ADDRESS', 'BLOCK', 'OF NODE', 'LENT TO', 'POD'], rows };
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
  const head = ['NAME', 'STATE', 'SINCE', 'BLOCKS', 'IN USE', 'BORROWED', 'VERSION', 'ADDRESSES'];
  return { head, rows, right: [2, 3, 4, 5] };
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
  return { head: ['NETWORK', 'PODS', 'ADDRESSES', 'POOLS', 'STICKY', 'ASSIGNED'], rows };
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
  return { head: ['ADDRESS', 'POD', 'NODE', 'AGE'], rows };
}
