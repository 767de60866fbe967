/** Address, MAC and port of a pod: one follows from the other, so that none is asked for or kept. */
import { addressToBytes, containsAddress, parseAddress, parsePrefix } from '@podwire/addresses';
import { PodwireError } from '@podwire/errors';
import type { Endpoint } from '@podwire/network-contract';
import { gatewayOf, podMac } from '../addresses.js';

export interface PodPlace {
  readonly ip: string;
  readonly mac: string;
  /** ADDRESS/LENGTH, with the length of the subnet. */
  readonly address: string;
  readonly gateway: string;
  /** Number of its port on the bridge. */
  readonly port: number;
}

/** @throws PodwireError REQUEST_INVALID for addresses and a MAC that a pod cannot have on this node */
export function placeOf({ leases, requestedMac }: Endpoint, subnet: string): PodPlace {
  const prefix = parsePrefix(subnet);
  const [lease, ...others] = leases;
  if (lease === undefined || others.length > 0)
    throw refuse(`a pod has one IPv4 address in the model sdn, and this one has ${leases.length}`);
  const { address: ip } = lease;
  if (!containsAddress(prefix, parseAddress(ip)))
    throw refuse(`${ip} is not in the subnet ${subnet} of this node, and other nodes would not find it here`);
  const mac = podMac(ip);
  if (requestedMac !== undefined && requestedMac.toLowerCase() !== mac)
    throw refuse(`mac: a pod with ${ip} has ${mac} in the model sdn, and no other`);
  return { ip, mac, address: `${ip}/${prefix.length}`, gateway: gatewayOf(subnet), port: portOf(ip, subnet) };
}

/** The second address of the subnet, the first one of pods, has port 3: 1 and 2 are tunnel and node. */
export const portOf = (ip: string, subnet: string): number =>
  numberOf(ip) - numberOf(subnet.slice(0, subnet.indexOf('/'))) + 1;

const numberOf = (ip: string): number => Buffer.from(addressToBytes(parseAddress(ip))).readUInt32BE();

const refuse = (message: string): PodwireError => new PodwireError('REQUEST_INVALID', message);
