import { containsAddress, parsePrefix, tryParseAddress } from '@podwire/addresses';
import type { ClusterNetwork } from '@podwire/objects';

/** @returns why no VXLAN can be sent there; undefined for an address of a node */
export function findAddressFault(text: string | undefined, network: ClusterNetwork): string | undefined {
  if (text === undefined) return 'is not known';
  const address = tryParseAddress(text);
  if (address?.family !== 4) return `${text} is no IPv4 address`;
  if (containsAddress(loopback, address)) return `${text} is a loopback address`;
  // Packets to the node would be routed into the overlay, and there to the node again.
  const around = [...network.clusterNetworks.map(({ CIDR }) => CIDR), network.serviceNetwork].find((cidr) =>
    containsAddress(parsePrefix(cidr), address),
  );
  return around === undefined ? undefined : `${text} lies in ${around}, which pods or services have`;
}

const loopback = parsePrefix('127.0.0.0/8');
