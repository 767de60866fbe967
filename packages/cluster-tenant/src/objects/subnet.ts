/** IPv4 subnets as Contiv writes them: `10.1.1.0/24`, or with the range to hand out, `10.1.1.10-10.1.1.99/24`. */
import {
  addressAt,
  type Address,
  containsAddress,
  formatAddress,
  lastAddress,
  parsePrefix,
  type Prefix,
  prefixOf,
  tryParseAddress,
} from '@podwire/addresses';

/** Places of a range of addresses in their subnet: 0 is the subnet's own address. */
export interface HostRange {
  readonly first: number;
  readonly last: number;
}

export interface Subnet {
  readonly prefix: Prefix;
  /** How many addresses the prefix has. */
  readonly size: number;
  /** Places that are handed out, the first and the last address of the prefix and the gateway excepted. */
  readonly range: HostRange;
}

/** As in the original: of shorter prefixes no map can be held, of longer ones none exist. */
const shortest = 8;
const longest = 32;

/** @throws RangeError whose message goes behind the field: `must be …` */
export function parseSubnet(text: string): Subnet {
  const { from, to, length } =
    /^(?<from>[0-9.]{7,15})(?:-(?<to>[0-9.]{7,15}))?\/(?<length>\d{1,2})$/.exec(text)?.groups ?? {};
  const first = tryParseAddress(from ?? '');
  const last = to === undefined ? undefined : tryParseAddress(to);
  if (first === undefined || (to !== undefined && last === undefined))
    throw new RangeError('must be an IPv4 subnet, 10.1.1.0/24, or one with a range, 10.1.1.10-10.1.1.99/24');
  const bits = Number(length);
  if (bits < shortest || bits > longest)
    throw new RangeError(`must have a prefix of ${shortest} to ${longest} bits, not ${bits}`);
  const prefix = prefixOf(first, bits);
  const subnet = { prefix, size: 2 ** (32 - bits) };
  if (last === undefined) return { ...subnet, range: { first: 0, last: subnet.size - 1 } };
  return { ...subnet, range: readRange(prefix, first, last) };
}

/** A range within the subnet: `10.1.1.10-10.1.1.20`. @throws RangeError as {@link parseSubnet} */
export function parsePool(text: string, { prefix }: Pick<Subnet, 'prefix'>): HostRange {
  const [from = '', to = from, ...others] = text.split('-');
  const [first, last] = [tryParseAddress(from), tryParseAddress(to)];
  if (first?.family !== 4 || last?.family !== 4 || others.length > 0)
    throw new RangeError('must be a range of IPv4 addresses, 10.1.1.10-10.1.1.20');
  return readRange(prefix, first, last);
}

function readRange(prefix: Prefix, first: Address, last: Address): HostRange {
  const [low, high] = [first, last].map((each) => hostOf({ prefix }, each));
  if (low === undefined || high === undefined)
    throw new RangeError(`must have a range within ${formatAddress(prefix.address)}/${prefix.length}`);
  if (low > high) throw new RangeError('must have a range whose first address is not behind its last');
  return { first: low, last: high };
}

/** The place of an address in the subnet; undefined for one outside. */
export function hostOf({ prefix }: Pick<Subnet, 'prefix'>, address: Address): number | undefined {
  if (address.family !== prefix.address.family || !containsAddress(prefix, address)) return undefined;
  return Number(address.value - prefix.address.value);
}

export const addressOf = ({ prefix }: Pick<Subnet, 'prefix'>, host: number): string =>
  formatAddress(addressAt(prefix.address, host));

export const inRange = ({ first, last }: HostRange, host: number): boolean => host >= first && host <= last;

export const rangesMeet = (one: HostRange, other: HostRange): boolean =>
  one.first <= other.last && other.first <= one.last;

/** True for an address of the range that is handed out. */
export function handsOut(subnet: Subnet, address: Address): boolean {
  const host = hostOf(subnet, address);
  return host !== undefined && inRange(subnet.range, host);
}

/** True where one address is handed out by both. */
export function subnetsMeet(one: Subnet, other: Subnet): boolean {
  const [own, others] = [one, other].map(({ prefix, range }) => {
    const base = Number(prefix.address.value);
    return { first: base + range.first, last: base + range.last };
  });
  return rangesMeet(own!, others!);
}

/** An IPv6 subnet. @throws RangeError as {@link parseSubnet} */
export function parseSubnet6(text: string): Prefix {
  const { from, length } = /^(?<from>[0-9a-fA-F:.]{2,45})\/(?<length>\d{1,3})$/.exec(text)?.groups ?? {};
  const address = tryParseAddress(from ?? '');
  const bits = Number(length);
  if (address?.family !== 6 || bits < 1 || bits > 127)
    throw new RangeError('must be an IPv6 subnet with a prefix of 1 to 127 bits');
  return prefixOf(address, bits);
}

export const isLastAddress = (prefix: Prefix, { value }: Address): boolean =>
  lastAddress(prefix).value === value;

/** The prefix of `a.b.c.d/16`. @throws RangeError as {@link parseSubnet} */
export function parsePrivateSubnet(text: string): Prefix {
  try {
    const prefix = parsePrefix(text, { loose: true });
    if (prefix.address.family === 4 && prefix.length === 16) return prefix;
  } catch {
    // said below
  }
  throw new RangeError('must be an IPv4 subnet of 16 bits, 172.19.0.0/16');
}
