/** Pods, subnets and services are elements of sets: one more of them changes no chain. */
import { type Family, familyOf } from '@podwire/addresses';
import type { NftElement } from '@podwire/backend-linux/resources';

export const gatewayTable = { family: 'inet', name: 'podwire_ovn' } as const;

export const families: readonly Family[] = [4, 6];

/** Sets of ranges, one of each family. */
type RangeSet = 'services' | 'subnets' | 'natsubnets';

export const services = (family: Family): string => `services${family}`;
/** All that is inside: packets from one to another keep their source. */
export const subnets = (family: Family): string => `subnets${family}`;
/** Subnets whose pods leave through this node, with its address. */
export const natSubnets = (family: Family): string => `natsubnets${family}`;
/** Pods of this node that leave through it, with its address. */
export const natPods = (family: Family): string => `natpods${family}`;
/** Sources that subnets have outside. */
export const sources = (family: Family): string => `sources${family}`;

export const declarations: string = families
  .flatMap((family) => [
    ...[services, subnets, natSubnets].map(
      (name) => `set ${name(family)} { type ipv${family}_addr; flags interval; }`,
    ),
    `set ${natPods(family)} { type ipv${family}_addr; }`,
    `map ${sources(family)} { type ipv${family}_addr : ipv${family}_addr; flags interval; }`,
  ])
  .join('\n');

const place = { kind: 'nft-element', family: gatewayTable.family, table: gatewayTable.name } as const;

export const rangeElement = (set: RangeSet, cidr: string): NftElement => ({
  ...{ ...place, set: `${set}${familyOf(cidr)}` },
  key: [{ type: `ipv${familyOf(cidr)}_interval`, value: cidr }],
});

export const natPodElement = (address: string): NftElement => ({
  ...{ ...place, set: natPods(familyOf(address)) },
  key: [{ type: `ipv${familyOf(address)}_addr`, value: address }],
});

/** @param address of the family of the range */
export const sourceElement = (cidr: string, address: string): NftElement => ({
  ...{ ...place, set: sources(familyOf(cidr)) },
  key: [{ type: `ipv${familyOf(cidr)}_interval`, value: cidr }],
  value: [{ type: `ipv${familyOf(address)}_addr`, value: address }],
});
