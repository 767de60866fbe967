/** Frees one address whose owner will never do so. */
import { containsPrefix } from '@podwire/addresses';
import {
  type Block,
  blockKind,
  type AllocationRecord,
  allocationRecordKind,
  type Stored,
  type Workload,
  workloadKind,
} from '@podwire/cluster-state';
import { PodwireError } from '@podwire/errors';
import { type Condition, encodeObject, type Write } from '@podwire/store';
import { type ClusterAccess, commit, retryOnConflict } from './access.js';
import { nodeStateOf } from './problems/problem.js';
import { type ClusterSnapshot, readCluster } from './snapshot.js';
import { canonicalAddress, prefixFrom } from './text.js';
import { withoutAssignments } from './workload-rules.js';

export interface ReleasedAddress {
  readonly address: string;
  /** Removals, in words; empty when the address was not in use. */
  readonly done: readonly string[];
}

export interface ReleaseAddressOptions {
  /** Also of nodes that are registered. */
  readonly force: boolean;
  /** Only of this node: for an address that two nodes have, the one that should not. */
  readonly node?: string;
}

interface AddressUse {
  readonly allocationRecords: readonly Stored<AllocationRecord>[];
  /** The block that it is borrowed from. */
  readonly borrowedFrom: Stored<Block> | undefined;
  readonly workloads: readonly Stored<Workload>[];
}

/**
 * Removes the address from allocation records, from its block's borrowed addresses and from workloads. A pod that runs keeps it:
 * with `force` on an address in use, another pod may get it too.
 * @throws PodwireError ADDRESS_IN_USE when its node is registered and `force` is not given; STORE_CONFLICT; RangeError
 */
export async function releaseAddress(
  access: ClusterAccess,
  text: string,
  { force, node }: ReleaseAddressOptions,
  signal: AbortSignal,
): Promise<ReleasedAddress> {
  const address = canonicalAddress(text);
  return retryOnConflict(`the release of ${address}`, async () => {
    const snapshot = await readCluster(access, signal);
    const use = limitToNode(node, findUse(snapshot, address), address);
    const nodes = nodesOf(use, address).filter((each) => node === undefined || each === node);
    if (!force) requireUnused(snapshot, use, nodes, address);
    const writes = planWrites(use, nodes, address);
    if (writes.length === 0) return { address, done: [] };
    const conditions = [
      ...seen(use),
      ...(force ? [] : nodes.flatMap((each) => goneConditions(access, snapshot, each))),
    ];
    const revision = await commit(access, { conditions, writes: writes.map(({ write }) => write) }, signal);
    return revision === undefined ? undefined : { address, done: writes.map(({ what }) => what) };
  });
}

function findUse({ allocationRecords, blocks, workloads }: ClusterSnapshot, address: string): AddressUse {
  const prefix = prefixFrom(address);
  return {
    allocationRecords: allocationRecords.filter(({ value }) =>
      value.entries.some((entry) => entry.address === address),
    ),
    borrowedFrom: [...blocks.values()].find(
      ({ value }) =>
        value.loans.some((loan) => loan.address === address) &&
        containsPrefix(prefixFrom(value.cidr), prefix),
    ),
    workloads: workloads.filter(({ value }) => Object.values(value.assigned).flat().includes(address)),
  };
}

function limitToNode(node: string | undefined, use: AddressUse, address: string): AddressUse {
  if (node === undefined) return use;
  const isBorrowed = use.borrowedFrom?.value.loans.some(
    (loan) => loan.address === address && loan.node === node,
  );
  return {
    allocationRecords: use.allocationRecords.filter(({ value }) => value.node === node),
    borrowedFrom: isBorrowed === true ? use.borrowedFrom : undefined,
    workloads: [],
  };
}

function nodesOf({ allocationRecords, borrowedFrom }: AddressUse, address: string): string[] {
  const borrowers =
    borrowedFrom?.value.loans.filter((loan) => loan.address === address).map(({ node }) => node) ?? [];
  return [...new Set([...allocationRecords.map(({ value }) => value.node), ...borrowers])];
}

/** Also of a node that cannot be asked: its pods go on working. */
function requireUnused(
  snapshot: ClusterSnapshot,
  use: AddressUse,
  nodes: readonly string[],
  address: string,
): void {
  const node = nodes.find((name) => nodeStateOf(snapshot, name) !== 'unknown');
  if (node === undefined) return;
  const entry = use.allocationRecords
    .find(({ value }) => value.node === node)
    ?.value.entries.find((each) => each.address === address);
  const who = entry === undefined ? 'has borrowed it' : `reports it for ${entry.pod ?? entry.owner}`;
  const state = nodeStateOf(snapshot, node) === 'present' ? 'which is up' : 'which is unreachable';
  throw new PodwireError('ADDRESS_IN_USE', `${address}: node ${node}, ${state}, ${who}`, {
    details: { address, node, pod: entry?.pod },
    action:
      'Delete the pod first. Of a node that will not come back, release everything: `podwire nodes forget`.',
  });
}

function goneConditions({ keys }: ClusterAccess, { nodes }: ClusterSnapshot, node: string): Condition[] {
  return [
    { key: keys.nodeLease(node), expect: 'absent' },
    { key: keys.node(node), expect: nodes.get(node)?.revision ?? 'absent' },
  ];
}

function seen({ allocationRecords, borrowedFrom, workloads }: AddressUse): Condition[] {
  return [...allocationRecords, ...(borrowedFrom === undefined ? [] : [borrowedFrom]), ...workloads].map(
    ({ key, revision }) => ({
      key,
      expect: revision,
    }),
  );
}

function planWrites(
  { allocationRecords, borrowedFrom, workloads }: AddressUse,
  nodes: readonly string[],
  address: string,
): { readonly what: string; readonly write: Write }[] {
  return [
    ...allocationRecords.map(({ key, value }) => {
      const entries = value.entries.filter((entry) => entry.address !== address);
      const write: Write = {
        op: 'put',
        key,
        value: encodeObject(allocationRecordKind, { ...value, entries }),
      };
      return { what: `taken out of the record of node ${value.node}`, write };
    }),
    ...(borrowedFrom === undefined ? [] : [endBorrowing(borrowedFrom, nodes, address)]),
    ...workloads.map(({ key, value }) => {
      const rest = withoutAssignments(value, (each) => each === address);
      const write: Write = { op: 'put', key, value: encodeObject(workloadKind, rest) };
      return { what: `no longer kept by workload ${value.namespace}/${value.name}`, write };
    }),
  ];
}

function endBorrowing(
  { key, value }: Stored<Block>,
  nodes: readonly string[],
  address: string,
): { readonly what: string; readonly write: Write } {
  const loans = value.loans.filter((loan) => loan.address !== address || !nodes.includes(loan.node));
  const isEmpty = value.node === undefined && loans.length === 0;
  const write: Write = isEmpty
    ? { op: 'delete', key }
    : { op: 'put', key, value: encodeObject(blockKind, { ...value, loans }) };
  return { what: `no longer borrowed from block ${value.cidr}`, write };
}
