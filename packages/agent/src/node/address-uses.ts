/** Addresses in the pools that the node, its neighbours and the store use: no pod gets those. Pure. */
import {
  type Address,
  addressBits,
  containsAddress,
  containsPrefix,
  formatAddress,
  formatPrefix,
  hostPrefix,
  type InterfaceAddress,
  parseAddress,
  parseInterfaceAddress,
  parsePrefix,
  type Prefix,
  prefixOf,
} from '@podwire/addresses';
import { gatewayOf, type PoolSpec, readPool, type Taken } from '@podwire/ipam';
import type { HostView } from './host-view.js';

/** An address, or the network of a link with the node's own address in it, and who has it. */
export interface AddressUse extends InterfaceAddress {
  readonly why: string;
  /** `network`: of a link, whose other machines are not known. `beyond`: another machine has it, and the node must reach it. */
  readonly kind: 'own' | 'network' | 'beyond';
}

/** Links that Podwire made are left out: pods' have no addresses, and that of the tunnel is a lease of a pool. */
export function usesOfHost({ links, addresses, nextHops }: HostView): AddressUse[] {
  const others = new Map(links.filter(({ own }) => !own).map((link) => [link.index, link]));
  const leading = new Set(nextHops.map(({ link }) => link));
  const ofLinks = addresses.flatMap(({ link: index, address, peer }): AddressUse[] => {
    const link = others.get(index);
    if (link === undefined) return [];
    const own = parseInterfaceAddress(address);
    // A bridge that leads to no router is the segment of containers, whose own addresses may come from our pools (`podwire-ipam`).
    const isShared = !link.loopback && (link.kind !== 'bridge' || leading.has(index));
    return [
      { ...own, kind: 'own', why: `${formatAddress(own.address)} is an address of ${link.name}` },
      ...(peer === undefined ? [] : [useOf(peer, 'beyond', `is the other end of ${link.name}`)]),
      ...(isShared && own.length < addressBits(own.address.family) ? [networkOf(own, link.name)] : []),
    ];
  });
  return [
    ...ofLinks,
    ...nextHops.map(({ address }) => useOf(address, 'beyond', 'is a next hop of this node')),
  ];
}

function networkOf(own: InterfaceAddress, link: string): AddressUse {
  const cidr = formatPrefix(prefixOf(own.address, own.length));
  return { ...own, kind: 'network', why: `${cidr} is the network of ${link}` };
}

/** @param text with or without a length */
export function useOf(text: string, kind: 'own' | 'beyond', what: string): AddressUse {
  const address = text.includes('/') ? parseInterfaceAddress(text).address : parseAddress(text);
  return { address, length: addressBits(address.family), kind, why: `${formatAddress(address)} ${what}` };
}

/**
 * Addresses that the pool must not allocate. The operator's own `reserved` goes first: who has taken an address out of
 * the pool knows of it. Of another machine's address the whole block is left alone, unless the node has it already: the
 * route that ends packets for a block's free addresses would cut that machine off.
 * @param blocks that the node has
 */
export function takenOf(spec: PoolSpec, uses: readonly AddressUse[], blocks: readonly Prefix[]): Taken[] {
  const { prefix: pool, reserved } = readPool({ ...spec, taken: [] });
  const isKnown = ({ value }: Address): boolean =>
    reserved.some(({ first, last }) => first <= value && value <= last);
  const found = uses.flatMap(({ address, length, kind, why }): Taken[] => {
    const network = prefixOf(address, length);
    if (kind === 'network')
      return containsPrefix(pool, network) && !isKnown(address) ? [{ cidr: formatPrefix(network), why }] : [];
    if (!containsAddress(pool, address) || isKnown(address)) return [];
    const block = prefixOf(address, spec.blockSize);
    // The plugin `bridge` gives it to the link that it makes.
    if (spec.allocation === 'node-cidr' && gatewayOf(block).value === address.value) return [];
    const isOurs = blocks.some((each) => containsAddress(each, address));
    const part = kind === 'beyond' && !isOurs ? block : hostPrefix(address);
    return [{ cidr: formatPrefix(part), why }];
  });
  return [...new Map(found.map((taken) => [JSON.stringify(taken), taken])).values()];
}

/** The same specification when nothing of it is taken. */
export function withTaken(spec: PoolSpec, uses: readonly AddressUse[], blocks: readonly string[]): PoolSpec {
  const taken =
    uses.length === 0
      ? []
      : takenOf(
          spec,
          uses,
          blocks.map((cidr) => parsePrefix(cidr)),
        );
  return taken.length === 0 ? spec : { ...spec, taken };
}

/** For status: a pool that meets what others have, each part of it once. */
export function describeTaken({ name, cidr, taken = [] }: PoolSpec): string[] {
  const parts = taken.map(({ cidr: text, why }) => ({ text, why, prefix: parsePrefix(text) }));
  const largest = parts.filter(
    ({ prefix }) =>
      !parts.some((other) => other.prefix.length < prefix.length && containsPrefix(other.prefix, prefix)),
  );
  return largest.map(
    ({ text, why }) =>
      `POOL_INVALID: pool ${name} (${cidr}): ${why}; pods get nothing of ${text}. Use another pool, or reserve in it what is not for pods`,
  );
}

/** For status: pods whose address something else has got since. */
export function describeDoubled(
  leases: readonly { readonly address: string; readonly owner: string }[],
  uses: readonly AddressUse[],
): string[] {
  const known = new Map(
    uses.filter(({ kind }) => kind !== 'network').map(({ address, why }) => [formatAddress(address), why]),
  );
  return leases.flatMap(({ address, owner }) => {
    const why = known.get(address);
    return why === undefined ? [] : [`ADDRESS_IN_USE: ${owner} has ${address}, but ${why}; delete the pod`];
  });
}
