/** Addresses of endpoints and reservations. */
import { formatAddress, lastAddress, parseAddress, tryParseAddress } from '@podwire/addresses';
import type { ClusterView, FreeSet, GroupEntry, Network, NetworkEntry, NetworkUse } from '../contract.js';
import { keyIn, networkKey, reservationKey } from '../keys.js';
import {
  addressOf,
  hostOf,
  type HostRange,
  inRange,
  parsePool,
  parseSubnet,
  parseSubnet6,
  type Subnet,
} from '../objects/subnet.js';
import { conflict, exhausted } from '../problems.js';

export interface AddressRequest {
  /** The one that asks, for messages: `endpoint web.default-c1`. */
  readonly subject: string;
  /** The field that an address comes from. */
  readonly field: string;
  readonly network: NetworkEntry;
  readonly group: GroupEntry | undefined;
  readonly address: string | undefined;
}

/** Pools of groups in this network; their addresses are for them alone. */
export function poolsOf(cluster: ClusterView, network: Network): ReadonlyMap<string, HostRange> {
  const subnet = parseSubnet(network.subnet);
  const pools = new Map<string, HostRange>();
  for (const { type, key } of cluster.referrers('network', networkKey(network))) {
    const pool =
      type === 'endpointGroup' ? cluster.table('endpointGroup').get(key)?.config.ipPool : undefined;
    if (pool !== undefined) pools.set(key, parsePool(pool, subnet));
  }
  return pools;
}

/**
 * An IPv4 address: the one that is asked for, or the lowest free one of the group's pool or the network.
 * @throws PodwireError TENANT_CONFLICT for one that cannot be given, TENANT_EXHAUSTED
 */
export function chooseAddress(cluster: ClusterView, request: AddressRequest): string {
  const { network, group, address, subject } = request;
  const subnet = parseSubnet(network.config.subnet);
  const pools = poolsOf(cluster, network.config);
  const own = group && pools.get(keyIn(group.config, group.config.groupName));
  if (address !== undefined) return requireAddress(cluster, request, subnet, pools, own);
  const { free } = cluster.use(networkKey(network.config));
  const host = findHost(free, own ?? subnet.range, own === undefined ? [...pools.values()] : []);
  if (host !== undefined) return addressOf(subnet, host);
  const place = own === undefined ? network.config.subnet : `the pool ${group!.config.ipPool}`;
  throw exhausted(subject, `no address of ${place} is free`, 'Delete endpoints, or add a network.');
}

/** The lowest free place of a range, over those that others keep. */
function findHost(free: FreeSet, { first, last }: HostRange, kept: readonly HostRange[]): number | undefined {
  for (let at = first; ;) {
    const found = free.firstFrom(at);
    if (found === undefined || found > last) return undefined;
    const keeper = kept.find((range) => inRange(range, found));
    if (keeper === undefined) return found;
    at = keeper.last + 1;
  }
}

function requireAddress(
  cluster: ClusterView,
  request: AddressRequest,
  subnet: Subnet,
  pools: ReadonlyMap<string, HostRange>,
  own: HostRange | undefined,
): string {
  const { subject, field, address = '', network, group } = request;
  const refuse = (message: string): Error => conflict(subject, field, `asks for ${address}, ${message}`);
  const parsed = tryParseAddress(address);
  const host = parsed === undefined ? undefined : hostOf(subnet, parsed);
  if (host === undefined || !inRange(subnet.range, host))
    throw refuse(`which is no address of ${network.config.subnet}`);
  if (own !== undefined && !inRange(own, host))
    throw refuse(`which is not in the pool ${group?.config.ipPool} of its group`);
  const keeper = [...pools].find(([, range]) => range !== own && inRange(range, host));
  if (keeper !== undefined) throw refuse(`which is in the pool of endpointGroup ${keeper[0]}`);
  const key = networkKey(network.config);
  if (cluster.use(key).free.isFree(host)) return addressOf(subnet, host);
  // A runtime reserves an address first, and names it when the endpoint comes.
  if (field !== 'PreferredIPv4Address' && cluster.table('reservation').has(reservationKey(key, address)))
    return address;
  throw refuse('which is taken');
}

/**
 * An IPv6 address: the one that is asked for, or the next one behind the highest, and at the end of the subnet the lowest that
 * is free. Undefined in a network without IPv6.
 * @throws PodwireError as {@link chooseAddress}
 */
export function chooseAddress6(cluster: ClusterView, request: AddressRequest): string | undefined {
  const { network, address, subject, field } = request;
  const { ipv6Subnet } = network.config;
  if (ipv6Subnet === undefined) {
    if (address === undefined) return undefined;
    throw conflict(subject, field, `asks for ${address}, and the network has no ipv6Subnet`);
  }
  const use = cluster.use(networkKey(network.config));
  const prefix = parseSubnet6(ipv6Subnet);
  const [first, last] = [prefix.address.value + 1n, lastAddress(prefix).value];
  if (address !== undefined) {
    const { value } = parseAddress(address);
    if (value < first || value > last)
      throw conflict(subject, field, `asks for ${address}, which is no address of ${ipv6Subnet}`);
    if (use.taken6.has(value)) throw conflict(subject, field, `asks for ${address}, which is taken`);
    return formatAddress({ family: 6, value });
  }
  const value = findAddress6(use, first, last);
  if (value === undefined)
    throw exhausted(subject, `no address of ${ipv6Subnet} is free`, 'Delete endpoints, or add a network.');
  return formatAddress({ family: 6, value });
}

function findAddress6({ taken6, last6 }: NetworkUse, first: bigint, last: bigint): bigint | undefined {
  if (last6 < last) return last6 + 1n;
  let at = first;
  while (taken6.has(at)) at++;
  return at <= last ? at : undefined;
}

/** 02:02 and the four bytes of the IPv4 address. */
export function macOf(address: string): string {
  const bytes = address.split('.').map((byte) => Number(byte).toString(16).padStart(2, '0'));
  return ['02', '02', ...bytes].join(':');
}
