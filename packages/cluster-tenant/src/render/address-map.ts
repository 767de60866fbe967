/** Which addresses of a network are taken, as the original writes it. */
import { parseAddress } from '@podwire/addresses';
import { poolsOf } from '../allocation/addresses.js';
import type { ClusterView, FreeSet, Network } from '../contract.js';
import { networkKey } from '../keys.js';
import { addressOf, hostOf, type HostRange, inRange, parseSubnet, type Subnet } from '../objects/subnet.js';

/** Bits of a map at most. The map of a subnet shorter than /16 does not fit into a store, so it is left empty. */
const mostBits = 2 ** 16;

/** Taken places in order: ranges that do not touch. */
export type Taken = readonly HostRange[];

/** Taken of the network as a whole: the gateway, pools of groups, and all addresses in use. */
export function takenOf(cluster: ClusterView, network: Network): Taken {
  const subnet = parseSubnet(network.subnet);
  const pools = [...poolsOf(cluster, network).values()];
  const { gateway } = network;
  const hosts = [...hostsInUse(cluster, network), ...(gateway === undefined ? [] : [gateway])];
  return mergeRanges([...pools, ...hosts.map((each) => single(subnet, each))]);
}

/** Taken of a group's pool. */
export function takenInPool(cluster: ClusterView, network: Network, pool: HostRange): Taken {
  const subnet = parseSubnet(network.subnet);
  const hosts = [...hostsInUse(cluster, network)].map((each) => single(subnet, each));
  return mergeRanges(hosts.filter(({ first }) => inRange(pool, first)));
}

function* hostsInUse(cluster: ClusterView, network: Network): Generator<string> {
  const { endpoints, reservations } = cluster.use(networkKey(network));
  for (const id of endpoints) yield cluster.table('endpoint').get(id)!.ipAddress;
  for (const key of reservations) yield cluster.table('reservation').get(key)!.address;
}

function single(subnet: Subnet, address: string): HostRange {
  const host = hostOf(subnet, parseAddress(address)) ?? 0;
  return { first: host, last: host };
}

function mergeRanges(ranges: readonly HostRange[]): HostRange[] {
  const merged: HostRange[] = [];
  for (const range of ranges.toSorted((a, b) => a.first - b.first)) {
    const before = merged.at(-1);
    if (before === undefined || range.first > before.last + 1) merged.push(range);
    else merged[merged.length - 1] = { first: before.first, last: Math.max(before.last, range.last) };
  }
  return merged;
}

/** Ranges between, within bounds. */
function gapsOf(taken: Taken, { first, last }: HostRange): HostRange[] {
  const gaps: HostRange[] = [];
  let at = first;
  for (const range of taken) {
    if (range.first > at) gaps.push({ first: at, last: Math.min(range.first - 1, last) });
    at = Math.max(at, range.last + 1);
    if (at > last) return gaps;
  }
  return at <= last ? [...gaps, { first: at, last }] : gaps;
}

/** Ranges for people: `10.1.1.1-10.1.1.9, 10.1.1.12`. */
export const formatRanges = (subnet: Subnet, ranges: readonly HostRange[]): string =>
  ranges
    .map(({ first, last }) =>
      first === last ? addressOf(subnet, first) : `${addressOf(subnet, first)}-${addressOf(subnet, last)}`,
    )
    .join(', ');

/** Ranges that can still be handed out. */
export const availableIn = (subnet: Subnet, taken: Taken, range: HostRange): HostRange[] =>
  gapsOf(taken, { first: Math.max(range.first, 1), last: Math.min(range.last, subnet.size - 2) });

/**
 * The bits as the original's library writes a set: how many there are, in 8 bytes, then words of 8 bytes, lowest bits
 * last, all in base64 for URLs.
 * @param closed places that are set beside those that are taken
 */
function encodeBits({ size }: Subnet, free: FreeSet, closed: readonly HostRange[]): string {
  if (size > mostBits) return '';
  const bytes = Buffer.alloc(8 + Math.ceil(size / 64) * 8);
  bytes.writeBigUInt64BE(BigInt(size));
  for (let host = 0; host < size; host++) if (!free.isFree(host)) setBit(bytes, host);
  // Merged, each place is set once, however many groups have a pool: every endpoint pays for this.
  for (const { first, last } of mergeRanges(closed))
    for (let host = first; host <= last; host++) setBit(bytes, host);
  return toUrlBase64(bytes);
}

function setBit(bytes: Buffer, host: number): void {
  const inWord = 7 - ((host >> 3) & 7);
  bytes[8 + (host >> 6) * 8 + inWord]! |= 1 << (host & 7);
}

/** Places of a subnet in front of a range, and behind it. */
const outsideOf = ({ size }: Subnet, { first, last }: HostRange): HostRange[] => [
  { first: 0, last: first - 1 },
  { first: last + 1, last: size - 1 },
];

const toUrlBase64 = (bytes: Buffer): string =>
  bytes.toString('base64url').padEnd(Math.ceil(bytes.length / 3) * 4, '=');

/** A set without bits. */
export const noBits = toUrlBase64(Buffer.alloc(8));

/** The map of a network: pools of groups are taken in it as a whole. */
export function encodeNetworkMap(cluster: ClusterView, network: Network): string {
  const subnet = parseSubnet(network.subnet);
  const pools = [...poolsOf(cluster, network).values()];
  const { free } = cluster.use(networkKey(network));
  return encodeBits(subnet, free, [...outsideOf(subnet, subnet.range), ...pools]);
}

/** The map of a group's pool, in the network that it is of. */
export function encodePoolMap(cluster: ClusterView, network: Network, pool: HostRange): string {
  const subnet = parseSubnet(network.subnet);
  const { free } = cluster.use(networkKey(network));
  return encodeBits(subnet, free, outsideOf(subnet, pool));
}
