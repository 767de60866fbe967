/** The addresses of a Subnet, for those who hand them out. */
import { type Address, lastAddress, type Prefix } from '@podwire/addresses';
import { type AddressRange, clipRanges, parseExcludeIps, subtractRanges } from './address-ranges.js';
import type { Subnet } from './subnet.js';
import { readAddresses, readBlock } from './text.js';

/** Of one family. */
export interface SubnetRange {
  readonly prefix: Prefix;
  readonly gateway: Address;
  /** Of the prefix without its first and its last address, in both families (kube-ovn 1.8). */
  readonly usable: AddressRange;
  /** `excludeIps` within `usable`: a pod has one of these only when it asks for it. */
  readonly reserved: readonly AddressRange[];
  /** The rest of `usable`. */
  readonly free: readonly AddressRange[];
}

/** The ranges of each family, IPv4 first. @throws RangeError for a subnet that its schema has not read */
export function rangesOf({
  spec: { cidrBlock, gateway, excludeIps },
}: {
  readonly spec: Pick<Subnet['spec'], 'cidrBlock' | 'gateway' | 'excludeIps'>;
}): readonly SubnetRange[] {
  const block = readBlock(cidrBlock);
  const gateways = readAddresses(gateway);
  if (block === undefined || gateways?.length !== block.prefixes.length)
    throw new RangeError(`the subnet ${cidrBlock} with the gateway ${gateway} was not checked`);
  const excluded = parseExcludeIps(excludeIps);
  return block.prefixes.map((prefix, index) => {
    const usable = usableRange(prefix);
    const reserved = clipRanges(excluded, usable);
    return { prefix, gateway: gateways[index]!, usable, reserved, free: subtractRanges(usable, reserved) };
  });
}

const usableRange = (prefix: Prefix): AddressRange => ({
  family: prefix.family,
  first: prefix.address.value + 1n,
  last: lastAddress(prefix).value - 1n,
});
