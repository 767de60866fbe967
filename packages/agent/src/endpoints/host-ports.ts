/** Which pod has which host port. Asked before anything is changed, so that the error can name the other pod. */
import { PodwireError } from '@podwire/errors';
import { type EndpointId, endpointKey, type PortMapping } from '@podwire/network-contract';
import { claimsConflict, describeClaim, type HostPortClaim, hostPortClaims } from '@podwire/network-traffic';
import { describeEndpoint } from './registry.js';
import type { EndpointRecord } from '../records/record.js';

export interface HostPorts {
  /**
   * @param families that the pod will have addresses of: a port is taken only for these
   * @throws PodwireError PORT_IN_USE naming the port and who has it; REQUEST_INVALID for mappings that make no sense
   */
  check(id: EndpointId, mappings: readonly PortMapping[], families: readonly (4 | 6)[]): void;
  claim(record: EndpointRecord): void;
  release(id: EndpointId): void;
}

interface Held {
  readonly claim: HostPortClaim;
  readonly owner: string;
  /** For messages. */
  readonly holder: string;
}

export function createHostPorts(): HostPorts {
  /** By protocol and port: few each, whatever the number of pods. */
  const slots = new Map<string, Held[]>();
  const owners = new Map<string, HostPortClaim[]>();
  const heldAt = (claim: HostPortClaim): Held[] => slots.get(slotOf(claim)) ?? [];

  return {
    check(id, portMappings, families) {
      if (portMappings.length === 0) return;
      const leases = families.map((family) => ({ address: anyAddress[family], pool: '' }));
      for (const claim of hostPortClaims({ id, pod: {}, leases, mac: '', portMappings })) {
        const other = heldAt(claim).find((held) => claimsConflict(held.claim, claim));
        if (other !== undefined) throw portInUse(claim, other.holder);
      }
    },

    claim(record) {
      const { portMappings, mac } = record.endpoint;
      if (portMappings.length === 0) return;
      const owner = endpointKey(record.id);
      const claims = hostPortClaims({ ...record, mac, portMappings });
      for (const claim of claims) {
        slots.set(slotOf(claim), [...heldAt(claim), { claim, owner, holder: describeEndpoint(record) }]);
      }
      owners.set(owner, claims);
    },

    release(id) {
      const owner = endpointKey(id);
      for (const claim of owners.get(owner) ?? []) {
        const rest = heldAt(claim).filter((held) => held.owner !== owner);
        if (rest.length === 0) slots.delete(slotOf(claim));
        else slots.set(slotOf(claim), rest);
      }
      owners.delete(owner);
    },
  };
}

/** Stand-ins for addresses that are not given out yet (RFC 5737, RFC 3849): claims depend on their families alone. */
const anyAddress = { 4: '192.0.2.1', 6: '2001:db8::1' } as const;

const slotOf = ({ protocol, port }: HostPortClaim): string => `${protocol}/${port}`;

function portInUse(claim: HostPortClaim, holder: string): PodwireError {
  return new PodwireError('PORT_IN_USE', `host port ${describeClaim(claim)} is taken by ${holder}`, {
    details: { port: claim.port, protocol: claim.protocol, holder },
  });
}
