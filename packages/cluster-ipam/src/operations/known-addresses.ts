/** Addresses in pools that are no pod's: those of nodes and of the store. Pure. */
import {
  containsAddress,
  containsPrefix,
  formatAddress,
  hostPrefix,
  parseAddress,
  parseInterfaceAddress,
} from '@podwire/addresses';
import type { Pool } from '@podwire/cluster-state';
import type { ClusterAccess } from './access.js';
import type { ClusterSnapshot } from './snapshot.js';
import { prefixFrom } from './text.js';

export interface KnownAddress {
  /** Canonical text, without a length. */
  readonly address: string;
  /** `node n1`, `the store` */
  readonly whose: string;
}

export function knownAddresses(
  { nodes }: Pick<ClusterSnapshot, 'nodes'>,
  { storeAddresses = [] }: Pick<ClusterAccess, 'storeAddresses'> = {},
): KnownAddress[] {
  const ofNodes = [...nodes.values()].flatMap(({ value: { name, addresses } }) =>
    [addresses.ipv4, addresses.ipv6]
      .filter((text) => text !== undefined)
      .map((text) => ({
        address: formatAddress(parseInterfaceAddress(text).address),
        whose: `node ${name}`,
      })),
  );
  return [...ofNodes, ...storeAddresses.map((address) => ({ address, whose: 'the store' }))];
}

/** Those that the pool has, and does not reserve. */
export function metBy({ cidr, reserved }: Pool, known: readonly KnownAddress[]): KnownAddress[] {
  const pool = prefixFrom(cidr);
  const kept = reserved.map(prefixFrom);
  return known.filter(({ address: text }) => {
    const address = parseAddress(text);
    return (
      containsAddress(pool, address) && !kept.some((prefix) => containsPrefix(prefix, hostPrefix(address)))
    );
  });
}
