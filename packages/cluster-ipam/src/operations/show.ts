/** The cluster's addresses as people ask for them. Pure. */
import { containsPrefix, prefixSize } from '@podwire/addresses';
import type { Block, Allocation, Pool } from '@podwire/cluster-state';
import { type AddressRange, readPool } from '@podwire/ipam';
import { compact } from '@podwire/platform';
import { blocksWithin, type ClusterSnapshot, recordsWithin, poolAround } from './snapshot.js';
import { canonicalAddress, compareCidrs, prefixFrom } from './text.js';

export interface BlockShown {
  readonly cidr: string;
  /** Absent: the block has no owner, but some of its addresses are borrowed. */
  readonly node?: string;
  readonly state: Block['state'];
  readonly size: number;
  /** As their nodes have reported it. */
  readonly inUse: number;
  readonly lent: number;
}

/** `free`: neither reported in use nor reserved; only the nodes know which of them cool down. */
export interface PoolShown {
  readonly name: string;
  readonly network: string;
  readonly cidr: string;
  readonly configuration: Pool;
  /** Text, since an IPv6 pool has more than a number can hold. */
  readonly total: string;
  readonly inUse: number;
  readonly reserved: string;
  readonly free: string;
  readonly lent: number;
  readonly blocks: readonly BlockShown[];
}

/** An address that a node has of a block of another's. */
export interface BorrowedAddressShown {
  readonly address: string;
  readonly block: string;
  readonly pool?: string;
  readonly owner?: string;
  readonly borrower: string;
  readonly pod?: string;
}

export interface ClusterShown {
  readonly pools: readonly PoolShown[];
  readonly loans: readonly BorrowedAddressShown[];
  /** Addresses in use that lie in no pool. */
  readonly outside: number;
}

export function showCluster(snapshot: ClusterSnapshot): ClusterShown {
  const pools = [...snapshot.pools.values()]
    .map(({ value }) => showPool(snapshot, value))
    .sort((a, b) => compareCidrs(a.cidr, b.cidr));
  const reported = countEntries(snapshot.allocationRecords.map(({ value }) => value.entries));
  return {
    pools,
    loans: showBorrowed(snapshot),
    outside: reported - pools.reduce((sum, { inUse }) => sum + inUse, 0),
  };
}

function countEntries(entries: readonly (readonly Allocation[])[]): number {
  return entries.reduce((sum, each) => sum + each.length, 0);
}

export function showPool(snapshot: ClusterSnapshot, pool: Pool): PoolShown {
  const prefix = prefixFrom(pool.cidr);
  const allocationRecords = recordsWithin(snapshot, pool.cidr);
  const used = new Map<string, number>();
  for (const { value } of allocationRecords) {
    used.set(value.cidr, (used.get(value.cidr) ?? 0) + value.entries.length);
  }
  const inUse = countEntries(allocationRecords.map(({ value }) => value.entries));
  const unusable = readPool(pool).reserved;
  const usedReserved = allocationRecords
    .flatMap(({ value }) => value.entries)
    .filter(isWithin(unusable)).length;
  const total = prefixSize(prefix);
  const reserved = sizeOfRanges(unusable) - BigInt(usedReserved);
  const blocks = blocksWithin(snapshot, pool.cidr)
    .map(({ value }) => showBlock(value, used.get(value.cidr) ?? 0))
    .sort((a, b) => compareCidrs(a.cidr, b.cidr));
  return {
    name: pool.name,
    network: pool.network,
    cidr: pool.cidr,
    configuration: pool,
    total: String(total),
    inUse,
    reserved: String(reserved),
    free: String(total - reserved - BigInt(inUse)),
    lent: blocks.reduce((sum, { lent }) => sum + lent, 0),
    blocks,
  };
}

function showBlock({ cidr, node, state, loans }: Block, inUse: number): BlockShown {
  const size = Number(prefixSize(prefixFrom(cidr)));
  return { cidr, ...compact({ node }), state, size, inUse, lent: loans.length };
}

const isWithin =
  (ranges: readonly AddressRange[]) =>
  ({ address }: Pick<Allocation, 'address'>): boolean => {
    const { value } = prefixFrom(address).address;
    return ranges.some(({ first, last }) => first <= value && value <= last);
  };

function sizeOfRanges(ranges: readonly AddressRange[]): bigint {
  return ranges.reduce((sum, { first, last }) => sum + (last - first + 1n), 0n);
}

function showBorrowed(snapshot: ClusterSnapshot): BorrowedAddressShown[] {
  const holders = new Map(
    snapshot.allocationRecords.flatMap(({ value }) =>
      value.entries.map((entry) => [`${entry.address} ${value.node}`, entry.pod] as const),
    ),
  );
  return [...snapshot.blocks.values()].flatMap(({ value }) => {
    const pool = poolAround(snapshot.pools, prefixFrom(value.cidr))?.value.name;
    return value.loans.map(({ address, node }): BorrowedAddressShown => {
      const pod = holders.get(`${address} ${node}`);
      return {
        address,
        block: value.cidr,
        ...compact({ pool, owner: value.node }),
        borrower: node,
        ...compact({ pod }),
      };
    });
  });
}

/** One address in use. */
export interface Use {
  readonly owner: string;
  readonly pod?: string;
  readonly node: string;
  /** Milliseconds since the epoch. */
  readonly since: number;
  readonly reportedAt: number;
}

/** State of one address. */
export interface AddressShown {
  readonly address: string;
  /** `in-use`; `reserved`; `free`: not reported in use, though it may cool down; `outside`: in no pool. */
  readonly state: 'in-use' | 'reserved' | 'free' | 'outside';
  readonly pool?: string;
  readonly network?: string;
  readonly block?: string;
  /** Whose block it is. */
  readonly blockOwner?: string;
  /** Node that has borrowed it. */
  readonly borrower?: string;
  /** More than one is an error that `ipam check` explains. */
  readonly uses: readonly Use[];
  /** Workload and pod for which it is kept. */
  readonly keptFor?: string;
}

/** @throws RangeError for text that is no address */
export function showAddress(snapshot: ClusterSnapshot, text: string): AddressShown {
  const address = canonicalAddress(text);
  const prefix = prefixFrom(address);
  const pool = poolAround(snapshot.pools, prefix)?.value;
  const block = [...snapshot.blocks.values()].find(({ value }) =>
    containsPrefix(prefixFrom(value.cidr), prefix),
  )?.value;
  const borrower = block?.loans.find((loan) => loan.address === address)?.node;
  const uses = usesOfAddress(snapshot, address);
  const keptFor = keeperOf(snapshot, address);
  const isReserved = pool !== undefined && isWithin(readPool(pool).reserved)({ address });
  const idle = pool === undefined ? 'outside' : isReserved ? 'reserved' : 'free';
  return {
    address,
    state: uses.length > 0 ? 'in-use' : idle,
    ...compact({ pool: pool?.name, network: pool?.network, block: block?.cidr, blockOwner: block?.node }),
    ...compact({ borrower }),
    uses,
    ...compact({ keptFor }),
  };
}

function usesOfAddress({ allocationRecords }: ClusterSnapshot, address: string): Use[] {
  return allocationRecords.flatMap(({ value }) =>
    value.entries
      .filter((entry) => entry.address === address)
      .map(({ owner, pod, since }) => ({
        owner,
        ...compact({ pod }),
        node: value.node,
        since,
        reportedAt: value.reportedAt,
      })),
  );
}

function keeperOf({ workloads }: ClusterSnapshot, address: string): string | undefined {
  for (const { value } of workloads) {
    const pod = Object.entries(value.assigned).find(([, addresses]) => addresses.includes(address))?.[0];
    if (pod !== undefined) return `${value.namespace}/${pod}`;
    if (value.addresses.includes(address)) return `${value.namespace}/${value.name}`;
  }
  return undefined;
}
