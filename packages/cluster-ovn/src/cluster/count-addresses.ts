/** How many addresses of a Subnet are in use, and how many are free. Pure. */
import { type Family, parseAddress } from '@podwire/addresses';
import { type AddressRange, type IP, rangesOf, type Subnet } from '@podwire/objects';
import { groupBy } from '@podwire/platform';
import { addressesOf } from './convert.js';

export type AddressCounts = Readonly<
  Record<'v4usingIPs' | 'v4availableIPs' | 'v6usingIPs' | 'v6availableIPs', number>
>;

/** Addresses of IP objects, by the name of their subnet. */
export function groupAddresses(ips: readonly IP[]): ReadonlyMap<string, readonly string[]> {
  const groups = groupBy(ips, ({ spec }) => spec.subnet);
  return new Map([...groups].map(([subnet, own]) => [subnet, own.flatMap(addressesOf)]));
}

/**
 * Free are those that a pod gets which asks for none. Beyond 2^53 a number is not exact.
 * @param used by pods and nodes; those that are no more in the subnet count as in use alone
 */
export function countAddresses(subnet: Subnet, used: readonly string[]): AddressCounts {
  const taken = [...new Set(used)].map(parseAddress);
  const free = rangesOf(subnet).flatMap((range) => range.free);
  const count = (of: Family) => {
    const values = taken.filter(({ family }) => family === of).map(({ value }) => value);
    return {
      using: values.length,
      available: countFree(
        free.filter(({ family }) => family === of),
        values,
      ),
    };
  };
  const [four, six] = [count(4), count(6)];
  return {
    ...{ v4usingIPs: four.using, v4availableIPs: four.available },
    ...{ v6usingIPs: six.using, v6availableIPs: six.available },
  };
}

function countFree(free: readonly AddressRange[], taken: readonly bigint[]): number {
  const size = free.reduce((sum, { first, last }) => sum + last - first + 1n, 0n);
  const inFree = taken.filter((value) => free.some(({ first, last }) => value >= first && value <= last));
  return Number(size - BigInt(inFree.length));
}
