/** Which pod has which host port. Asked before anything is changed, so that the error can name the other pod. */
import { addressKey, parseAddress } from '@podwire/addresses';
import { type EndpointId, endpointKey } from '@podwire/engine';
import { PodwireError } from '@podwire/errors';
import type { PortMapping } from '@podwire/network-contract';
import { type AgentRecord, describeEndpoint } from './registry.js';

export interface HostPorts {
  /**
   * @param families of the pod's addresses: a port is taken only for these
   * @throws PodwireError PORT_IN_USE naming the port and who has it, also when the request itself has one port twice
   */
  check(mappings: readonly PortMapping[], families: readonly (4 | 6)[]): void;
  claim(record: AgentRecord): void;
  release(id: EndpointId): void;
}

interface Claim {
  /** Endpoint key; empty for the request that is being checked. */
  readonly owner: string;
  readonly holder: string;
  readonly families: readonly (4 | 6)[];
  /** Undefined: every address of these families. */
  readonly address: string | undefined;
}

export function createHostPorts(): HostPorts {
  /** By protocol and port: few claims each, whatever the number of pods. */
  const claims = new Map<string, Claim[]>();
  const owners = new Map<string, string[]>();

  const add = (slot: string, claim: Claim): void =>
    void claims.set(slot, [...(claims.get(slot) ?? []), claim]);

  return {
    check(mappings, families) {
      const own = new Map<string, Claim[]>();
      for (const mapping of mappings) {
        const slot = slotOf(mapping);
        const wanted = toClaim(mapping, families, '', 'the same request');
        const others = [...(claims.get(slot) ?? []), ...(own.get(slot) ?? [])];
        const other = others.find((claim) => collides(claim, wanted));
        if (other !== undefined) throw portInUse(mapping, other.holder);
        own.set(slot, [...(own.get(slot) ?? []), wanted]);
      }
    },

    claim(record) {
      const { portMappings } = record.endpoint;
      if (portMappings.length === 0) return;
      const owner = endpointKey(record.id);
      const families = familiesOf(record.leases);
      for (const mapping of portMappings) {
        add(slotOf(mapping), toClaim(mapping, families, owner, describeEndpoint(record)));
      }
      owners.set(owner, portMappings.map(slotOf));
    },

    release(id) {
      const owner = endpointKey(id);
      for (const slot of owners.get(owner) ?? []) {
        const rest = (claims.get(slot) ?? []).filter((claim) => claim.owner !== owner);
        if (rest.length === 0) claims.delete(slot);
        else claims.set(slot, rest);
      }
      owners.delete(owner);
    },
  };
}

export function familiesOf(leases: readonly { readonly address: string }[]): (4 | 6)[] {
  return [...new Set(leases.map(({ address }) => (address.includes(':') ? 6 : 4)))];
}

const slotOf = ({ protocol, hostPort }: PortMapping): string => `${protocol}/${hostPort}`;

function toClaim(
  { hostIP }: PortMapping,
  families: readonly (4 | 6)[],
  owner: string,
  holder: string,
): Claim {
  if (hostIP === undefined || hostIP === '') return { owner, holder, families, address: undefined };
  const address = parseAddress(hostIP);
  const claimed = families.filter((family) => family === address.family);
  return {
    owner,
    holder,
    families: claimed,
    address: address.value === 0n ? undefined : addressKey(address),
  };
}

/** A mapping for all addresses collides with one for a single address: packets to that one could go to either. */
function collides(a: Claim, b: Claim): boolean {
  const sameFamily = a.families.some((family) => b.families.includes(family));
  return sameFamily && (a.address === undefined || b.address === undefined || a.address === b.address);
}

function portInUse(mapping: PortMapping, holder: string): PodwireError {
  const place = `${mapping.hostIP === undefined ? '' : `${mapping.hostIP} `}${mapping.protocol} ${mapping.hostPort}`;
  return new PodwireError('PORT_IN_USE', `host port ${place} is taken by ${holder}`, {
    details: { port: mapping.hostPort, protocol: mapping.protocol, holder },
  });
}
