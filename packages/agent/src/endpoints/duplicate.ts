import type { NamespaceIdentity } from '@podwire/engine';
import type { Network } from '../networks.js';
import type { EndpointRecord } from '../records/record.js';
import type { AddRequest } from './read-request.js';
import { parseAddress, compareAddresses } from '@podwire/addresses';

interface Requested {
  readonly network: Network;
  readonly namespace: NamespaceIdentity;
  readonly request: AddRequest;
}

/**
 * Difference between a second ADD of an endpoint and the first, in words; undefined when they are the same. A field
 * that was not asked for (any address, any MAC) is the same as what was given.
 */
export function differenceToRequest(
  record: EndpointRecord,
  { network, namespace, request }: Requested,
): string | undefined {
  const { endpoint } = record;
  if (record.namespace.device !== namespace.device || record.namespace.inode !== namespace.inode) {
    return `it is in another network namespace (${record.namespace.path})`;
  }
  if (endpoint.network !== network.view.name) return `it belongs to network ${endpoint.network}`;
  const missing = request.addresses.find((address) => !hasAddress(record, address));
  if (missing !== undefined) return `it does not have the address ${missing}`;
  if (request.mac !== undefined && request.mac !== endpoint.mac) return `its MAC address is ${endpoint.mac}`;
  if (!sameValue(sortMappings(request), sortMappings(endpoint))) return 'its host ports are others';
  if (!sameValue(request.bandwidth ?? {}, endpoint.bandwidth ?? {})) return 'its bandwidth limits are others';
  return undefined;
}

function hasAddress({ leases }: EndpointRecord, wanted: string): boolean {
  const address = parseAddress(wanted);
  return leases.some((lease) => compareAddresses(parseAddress(lease.address), address) === 0);
}

function sortMappings({ portMappings }: Pick<AddRequest, 'portMappings'>): string[] {
  return portMappings
    .map(({ protocol, hostPort, containerPort, hostIP = '' }) =>
      [protocol, hostPort, containerPort, hostIP].join(' '),
    )
    .toSorted();
}

function sameValue(a: object, b: object): boolean {
  const sorted = (value: object): string =>
    JSON.stringify(Object.entries(value).toSorted(([x], [y]) => (x < y ? -1 : 1)));
  return sorted(a) === sorted(b);
}
