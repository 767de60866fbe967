/** Which source addresses a pod's link may send from: elements of sets of the traffic table. */
import { type Family, parseAddress } from '@podwire/addresses';
import type { NftElement } from '@podwire/backend-linux/resources';
import type { Resource } from '@podwire/engine';
import { trafficTable } from './traffic-table.js';

/** Of a link and an address. The rules that look into them are in `node-traffic.ts`. */
export const sourcesSet = (family: Family): string => `sources${family}`;

const sourceSetNames = ([4, 6] as const).map(sourcesSet);

export const sourceSets = ([4, 6] as const)
  .map((family) => `set ${sourcesSet(family)} { type ifname . ipv${family}_addr; }`)
  .join('\n');

/**
 * A packet whose link and source are in the set is spared the look into the routes. One that is not is no spoofed packet yet: the
 * routes decide. So a missing element costs time and opens nothing, and pods of older agents, or of one without policy, need none.
 */
export const spoofingRules = ([4, 6] as const)
  .map((family) => `${family === 4 ? 'ip' : 'ip6'} saddr != @${sourcesSet(family)}`)
  .map((lookup) => `\tiifname . ${lookup} fib saddr . iif oif missing drop\n`)
  .join('');

/** @param addresses of the pod behind the link, without prefix lengths */
export function planSources(link: string, addresses: readonly string[]): NftElement[] {
  return addresses.map((address) => {
    const { family } = parseAddress(address);
    return {
      ...{ kind: 'nft-element', family: trafficTable.family, table: trafficTable.name },
      set: sourcesSet(family),
      key: [
        { type: 'ifname', value: link },
        { type: `ipv${family}_addr`, value: address },
      ],
    };
  });
}

/** True for a resource of {@link planSources}. */
export function isSource(resource: Resource): boolean {
  const { kind, table, set = '' } = resource as Partial<NftElement>;
  return kind === 'nft-element' && table === trafficTable.name && sourceSetNames.includes(set);
}
