/** Which addresses of the pools other nodes and the store have, followed node by node: a cluster has thousands. */
import {
  containsAddress,
  parseAddress,
  parseInterfaceAddress,
  parsePrefix,
  type Prefix,
} from '@podwire/addresses';
import type { ClusterCache, Node } from '@podwire/cluster-state';
import { type AddressUse, useOf } from '../node/address-uses.js';

export interface OthersAddresses {
  /** Looks at these nodes again, or at all: after pools or the node's own blocks have changed. Returns whether anything is otherwise. */
  refresh(names?: Iterable<string>): boolean;
  /** The same array until something changes. */
  readonly uses: readonly AddressUse[];
}

export interface OthersOptions {
  readonly cache: Pick<ClusterCache, 'nodes' | 'pools'>;
  readonly nodeName: string;
  /** Blocks and borrowed addresses of this node. */
  readonly affinities: () => readonly string[];
  /** Of the store's servers, as far as they are known. */
  readonly storeAddresses: () => readonly string[];
}

export function createOthersAddresses(options: OthersOptions): OthersAddresses {
  const { cache, nodeName, affinities, storeAddresses } = options;
  /** Of those that have any; nearly none has. */
  const ofNodes = new Map<string, readonly AddressUse[]>();
  let uses: readonly AddressUse[] = [];
  let text = '';

  function takeNode(name: string, pools: readonly Prefix[], own: readonly Prefix[]): void {
    const node = name === nodeName ? undefined : cache.nodes.get(name)?.value;
    const found = node === undefined ? [] : usesOfNode(node, pools, own);
    if (found.length === 0) ofNodes.delete(name);
    else ofNodes.set(name, found);
  }

  return {
    refresh(names) {
      const pools = [...cache.pools.values()].map(({ value }) => parsePrefix(value.cidr));
      const own = affinities().map((cidr) => parsePrefix(cidr));
      if (names === undefined) ofNodes.clear();
      for (const name of names ?? cache.nodes.keys()) takeNode(name, pools, own);
      const ofStore = storeAddresses().map((address) =>
        useOf(address, 'beyond', 'is an address of the store'),
      );
      const now = [...ofStore, ...[...ofNodes.values()].flat()];
      const next = now
        .map(({ why }) => why)
        .sort()
        .join('\n');
      if (next === text) return false;
      [uses, text] = [now, next];
      return true;
    },
    get uses() {
      return uses;
    },
  };
}

/** Its own addresses where pools have them, and its ends of tunnels where the block is ours by now: elsewhere we hand nothing out. */
function usesOfNode(
  { name, addresses, tunnel }: Node,
  pools: readonly Prefix[],
  own: readonly Prefix[],
): AddressUse[] {
  const isIn = (prefixes: readonly Prefix[], text: string): boolean => {
    const { address } = text.includes('/') ? parseInterfaceAddress(text) : { address: parseAddress(text) };
    return prefixes.some((prefix) => containsAddress(prefix, address));
  };
  const underlay = [addresses.ipv4, addresses.ipv6].filter((each) => each !== undefined);
  const ends = [tunnel?.ipv4, tunnel?.ipv6].filter((each) => each !== undefined);
  return [
    ...underlay
      .filter((each) => isIn(pools, each))
      .map((each) => useOf(each, 'beyond', `is the address of node ${name}`)),
    ...ends
      .filter((each) => isIn(own, each))
      .map((each) => useOf(each, 'own', `is the end of tunnels of node ${name}`)),
  ];
}
