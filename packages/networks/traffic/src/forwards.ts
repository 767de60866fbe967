import { type Address, type Family, formatAddress, parseAddress } from '@podwire/addresses';
import type { Endpoint, PortMapping } from '@podwire/network-contract';
import { PodwireError } from '@podwire/errors';

/** One port mapping in one family: what has to be forwarded to where. */
export interface Forward {
  readonly family: Family;
  readonly protocol: PortMapping['protocol'];
  readonly hostPort: number;
  /** Canonical text; absent: every address of the host in this family. */
  readonly hostIP?: string;
  readonly podIP: string;
  readonly podPort: number;
}

/**
 * The mappings of an endpoint, taken apart by family: those the pod has an address of (the first of each). A `hostIP`
 * restricts the family, an unspecified one (0.0.0.0, ::) stands for every address of its family, and a mapping given twice
 * counts once.
 * @throws PodwireError REQUEST_INVALID for a hostIP that is no address or of a family the pod does not have, and for one
 * host port with two destinations
 */
export function forwardsOf(endpoint: Endpoint): Forward[] {
  const podIPs = firstOfEachFamily(endpoint);
  const unique = new Map<string, Forward>();
  endpoint.portMappings.forEach((mapping, index) => {
    for (const forward of forwardsOfMapping(mapping, podIPs, `portMappings[${index}]`)) {
      const key = [forward.family, forward.protocol, forward.hostPort, forward.hostIP ?? '*'].join(' ');
      const earlier = unique.get(key);
      if (earlier !== undefined && earlier.podPort !== forward.podPort) throw twoDestinations(forward, index);
      unique.set(key, forward);
    }
  });
  return [...unique.values()];
}

type PodIPs = ReadonlyMap<Family, string>;

function firstOfEachFamily(endpoint: Endpoint): PodIPs {
  const first = new Map<Family, string>();
  for (const { address } of endpoint.leases) {
    const parsed = parseAddress(address);
    if (!first.has(parsed.family)) first.set(parsed.family, formatAddress(parsed));
  }
  return first;
}

function forwardsOfMapping(mapping: PortMapping, podIPs: PodIPs, field: string): Forward[] {
  const { protocol, hostPort, containerPort: podPort } = mapping;
  const host = hostAddress(mapping, field);
  const bound = host !== undefined && host.value !== 0n;
  if (bound && !podIPs.has(host.family)) {
    const message = `${field}.hostIP ${mapping.hostIP} is an IPv${host.family} address, the pod has none`;
    throw new PodwireError('REQUEST_INVALID', message);
  }
  const families = ([4, 6] as const).filter((family) => host === undefined || host.family === family);
  return families.flatMap((family) => {
    const podIP = podIPs.get(family);
    const hostIP = bound ? { hostIP: formatAddress(host) } : {};
    return podIP === undefined ? [] : [{ family, protocol, hostPort, ...hostIP, podIP, podPort }];
  });
}

function hostAddress({ hostIP }: PortMapping, field: string): Address | undefined {
  if (hostIP === undefined || hostIP === '') return undefined;
  try {
    return parseAddress(hostIP);
  } catch (cause) {
    const message = `${field}.hostIP is no IP address: ${JSON.stringify(hostIP)}`;
    throw new PodwireError('REQUEST_INVALID', message, { cause });
  }
}

function twoDestinations({ protocol, hostPort }: Forward, index: number): PodwireError {
  const message = `portMappings[${index}]: ${protocol} host port ${hostPort} is mapped to two container ports`;
  return new PodwireError('REQUEST_INVALID', message);
}
