import type { Family } from '@podwire/addresses';
import type { Endpoint, PortMapping } from '@podwire/network-contract';
import { compact } from '@podwire/platform';
import { forwardsOf } from './forwards.js';

/** A port of the host that an endpoint occupies, in one family. */
export interface HostPortClaim {
  readonly protocol: PortMapping['protocol'];
  readonly port: number;
  readonly family: Family;
  /** Canonical text; absent: every address of the family. */
  readonly address?: string;
}

/** Host ports that an endpoint occupies. @throws PodwireError REQUEST_INVALID as {@link planHostPorts} does */
export function hostPortClaims(endpoint: Endpoint): HostPortClaim[] {
  return forwardsOf(endpoint).map(({ protocol, hostPort: port, family, hostIP }) => ({
    protocol,
    port,
    family,
    ...compact({ address: hostIP }),
  }));
}

/**
 * Reports if two endpoints cannot hold these at once: the rule of bind(2), by which a port on every address overlaps
 * with the same port on any one of them.
 */
export function claimsConflict(a: HostPortClaim, b: HostPortClaim): boolean {
  if (a.port !== b.port || a.protocol !== b.protocol || a.family !== b.family) return false;
  return a.address === undefined || b.address === undefined || a.address === b.address;
}

/** For messages: `tcp 0.0.0.0:8080`, `udp [2001:db8::1]:53`. */
export function describeClaim({ protocol, port, family, address }: HostPortClaim): string {
  if (family === 4) return `${protocol} ${address ?? '0.0.0.0'}:${port}`;
  return `${protocol} [${address ?? '::'}]:${port}`;
}
