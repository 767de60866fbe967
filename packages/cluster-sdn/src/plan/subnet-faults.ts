import { compareAddresses, lastAddress, overlaps, parsePrefix } from '@podwire/addresses';
import type { HostSubnet } from '@podwire/objects';
import type { SubnetRanges } from '../allocation/subnet-ranges.js';

/** Subnets that contradict the ranges of the cluster, or each other; in words. */
export function findSubnetFaults(hostSubnets: readonly HostSubnet[], ranges: SubnetRanges): string[] {
  const all = hostSubnets
    .filter(({ subnet }) => subnet !== '')
    .map(({ host, subnet }) => ({ host, subnet, prefix: parsePrefix(subnet) }))
    .toSorted((a, b) => compareAddresses(a.prefix.address, b.prefix.address));
  const outside = all
    .filter(({ prefix }) => !ranges.contains(prefix))
    .map(
      ({ host, subnet }) =>
        `the subnet ${subnet} of ${host} lies in no range of the cluster: ${ranges.cidrs.join(', ')}`,
    );
  return [...outside, ...findOverlaps(all)];
}

interface Subnet {
  readonly host: string;
  readonly subnet: string;
  readonly prefix: ReturnType<typeof parsePrefix>;
}

/** Prefixes that overlap contain each other, so the one that ends last of those in front is the one to compare with. */
function findOverlaps(sorted: readonly Subnet[]): string[] {
  const faults: string[] = [];
  let widest: Subnet | undefined;
  for (const each of sorted) {
    if (widest !== undefined && overlaps(widest.prefix, each.prefix))
      faults.push(`the subnets of ${widest.host} and ${each.host} overlap: ${widest.subnet}, ${each.subnet}`);
    if (widest === undefined || compareAddresses(lastAddress(widest.prefix), lastAddress(each.prefix)) < 0)
      widest = each;
  }
  return faults;
}
