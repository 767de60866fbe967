/**
 * The node's own addresses in tunnels, out of its own blocks: what the node sends from when it speaks to pods elsewhere, and what
 * peers have as next hop to its blocks. Kept in the node's identity, so that a restart changes nothing for peers.
 */
import { type Family, familyOf } from '@podwire/addresses';
import { containsAddress, parseAddress, parsePrefix } from '@podwire/addresses';
import { PodwireError } from '@podwire/errors';
import type { Need } from '@podwire/cluster-ipam';
import type { Network } from '../networks.js';
import type { AddressPair } from './identity.js';

export const tunnelOwners: Readonly<Record<Family, string>> = { 4: 'node:tunnel4', 6: 'node:tunnel6' };
const keys = { 4: 'ipv4', 6: 'ipv6' } as const satisfies Record<Family, keyof AddressPair>;

/** Pools of the network that go through tunnels, by name, also those that hand nothing out any more. */
const tunnelled = ({ view, model }: Network, family: Family): string[] =>
  view.pools
    .filter((pool) => model.needsTunnelAddress?.(pool) === true && familyOf(pool.cidr) === family)
    .map(({ name }) => name);

/** Those of them that an address can come from. */
function usable(network: Network, family: Family): string[] {
  const enabled = new Set(network.pools.filter(({ disabled = false }) => !disabled).map(({ name }) => name));
  return tunnelled(network, family).filter((name) => enabled.has(name));
}

/** Takes over the addresses of an earlier life before they are given to another endpoint. */
export function adoptTunnel(networks: readonly Network[], tunnel: AddressPair, now: number): void {
  for (const family of [4, 6] as const) {
    const address = tunnel[keys[family]];
    const network = address === undefined ? undefined : networks.find((each) => holds(each, address));
    if (address === undefined || network === undefined) continue;
    network.ipam.adopt({ address, pool: '', owner: tunnelOwners[family], since: now });
  }
}

const holds = (network: Network, address: string): boolean =>
  network.view.pools.some(({ cidr }) => containsAddress(parsePrefix(cidr), parseAddress(address)));

export interface NodeSpace {
  /** The prefixes that this node holds. */
  readonly own: readonly string[];
  /** Address families that the node has. */
  readonly families: readonly Family[];
}

export interface TunnelOutcome {
  readonly tunnel: AddressPair;
  /** Resources that must be provided before the addresses are complete. */
  readonly needs: readonly Need[];
}

/**
 * The addresses that the node must have now: those it has, as long as the node owns their blocks and a network needs them. From
 * a pool that is being emptied they move to another as soon as one has a place for them.
 */
export function chooseTunnel(
  networks: readonly Network[],
  tunnel: AddressPair,
  { own, families }: NodeSpace,
): TunnelOutcome {
  const chosen: { ipv4?: string; ipv6?: string } = {};
  const needs: Need[] = [];
  const prefixes = own.map((cidr) => parsePrefix(cidr));
  for (const family of [4, 6] as const) {
    const key = keys[family];
    const present = tunnel[key];
    const isNeeded =
      families.includes(family) && networks.some((network) => tunnelled(network, family).length > 0);
    const isOurs =
      present !== undefined && prefixes.some((prefix) => containsAddress(prefix, parseAddress(present)));
    const network = isNeeded ? networks.find((each) => usable(each, family).length > 0) : undefined;
    const stays = isOurs && isNeeded;
    if (stays && (network === undefined || !isBeingEmptied(networks, present))) {
      chosen[key] = present;
      continue;
    }
    const before = present === undefined ? undefined : release(networks, family);
    if (network === undefined) continue;
    const need = { network: network.view.name, families: [family], pools: usable(network, family) } as const;
    const address = allocate(network, family, need.pools);
    if (address !== undefined) chosen[key] = address;
    else needs.push(need);
    if (address === undefined && stays) {
      before?.();
      chosen[key] = present;
    }
  }
  return { tunnel: chosen, needs };
}

/** A pool that hands nothing out any more would never be empty if tunnels stayed in it (`podwire ipam migrate`). */
function isBeingEmptied(networks: readonly Network[], address: string): boolean {
  const parsed = parseAddress(address);
  return networks.some(({ pools }) =>
    pools.some(({ cidr, disabled }) => disabled === true && containsAddress(parsePrefix(cidr), parsed)),
  );
}

/** @returns how to take back what was released */
function release(networks: readonly Network[], family: Family): () => void {
  const released = networks.map(({ ipam }) => ({ ipam, leases: ipam.release(tunnelOwners[family]) }));
  return () => released.forEach(({ ipam, leases }) => leases.forEach((lease) => ipam.adopt(lease)));
}

function allocate({ ipam }: Network, family: Family, from: readonly string[]): string | undefined {
  try {
    const request = { owner: tunnelOwners[family], families: [family], pools: from };
    return ipam.allocate(request)[0]?.address;
  } catch (error) {
    if (error instanceof PodwireError && error.code === 'POOL_EXHAUSTED') return undefined;
    throw error;
  }
}
