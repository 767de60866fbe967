import { type Family, formatPrefix, hostPrefix, parseAddress } from '@podwire/addresses';
import type { Endpoint } from '@podwire/network-contract';

/** One address of a pod, as /32 or /128. */
export interface PodAddress {
  readonly family: Family;
  readonly prefix: string;
}

export function podAddresses({ leases }: Endpoint): PodAddress[] {
  return leases.map(({ address }) => {
    const parsed = parseAddress(address);
    return { family: parsed.family, prefix: formatPrefix(hostPrefix(parsed)) };
  });
}

export function familiesOf(addresses: readonly PodAddress[]): Family[] {
  return ([4, 6] as const).filter((family) => addresses.some((address) => address.family === family));
}
