import { formatPrefix, parseInterfaceAddress, prefixOf } from '@podwire/addresses';
import { addAddressRequest, decodeAddress, IFADDRMSG, type InterfaceAddressEntry } from '../address.js';
import { readStructure } from '../attributes.js';
import type { NetlinkMessage } from '../connection.js';
import { familyOf } from '../ip-address.js';
import { NLM_F_EXCL, NLM_F_REPLACE } from '../protocol.js';
import { connectedRoutes } from './connected-routes.js';
import { FakeErrno } from './errno.js';
import { addRoutes, addressesOf, endIpv4 } from './link-life.js';
import type { FakeContext, FakeLink, NamespaceState } from './state.js';

/** RTM_NEWADDR */
export function newAddress({ namespace }: FakeContext, message: NetlinkMessage): Buffer[] {
  const request = readRequest(message);
  const link = requireLink(namespace, request);
  const existing = addressesOf(link).find((entry) => isSame(entry, request));
  if (existing === undefined) add(link, request);
  else if ((message.flags & NLM_F_EXCL) !== 0 || (message.flags & NLM_F_REPLACE) === 0) {
    throw new FakeErrno('EEXIST', `ipv${request.family}: address already assigned`);
  }
  return [];
}

function readRequest(message: NetlinkMessage): InterfaceAddressEntry {
  const entry = decodeAddress(message);
  if (entry === undefined) throw new FakeErrno('EAFNOSUPPORT');
  return entry;
}

function requireLink(namespace: NamespaceState, { link: index, family }: InterfaceAddressEntry): FakeLink {
  const link = namespace.links.get(index);
  if (link !== undefined) return link;
  throw new FakeErrno(
    'ENODEV',
    family === 4 ? 'ipv4: Device not found' : 'ipv6: Unable to find the interface',
  );
}

/** IPv4 tells addresses apart by their length too, IPv6 does not. */
function isSame(a: InterfaceAddressEntry, b: InterfaceAddressEntry): boolean {
  const host = (entry: InterfaceAddressEntry) => entry.address.slice(0, entry.address.indexOf('/'));
  return a.family === b.family && (a.family === 4 ? a.address === b.address : host(a) === host(b));
}

function add(link: FakeLink, request: InterfaceAddressEntry): void {
  const flags = new Set(request.flags).add('permanent');
  if (request.family === 4 && hasPrimary(link, request)) flags.add('secondary');
  const named = request.family === 4 ? { ...request, label: request.label ?? link.name } : request;
  const entry = { ...named, flags: [...flags] };
  link.namespace.addresses.push(entry);
  addRoutes(link.namespace, connectedRoutes(link, entry));
}

/** A second address of the same prefix is secondary. */
function hasPrimary(link: FakeLink, request: InterfaceAddressEntry): boolean {
  return addressesOf(link).some(
    (entry) =>
      entry.family === 4 && prefixText(entry) === prefixText(request) && !entry.address.endsWith('/32'),
  );
}

function prefixText(entry: InterfaceAddressEntry): string {
  const { address, length } = parseInterfaceAddress(entry.address);
  return formatPrefix(prefixOf(address, length));
}

/** RTM_DELADDR */
export function deleteAddress({ namespace }: FakeContext, message: NetlinkMessage): Buffer[] {
  const request = readRequest(message);
  const link = requireLink(namespace, request);
  const entry = addressesOf(link).find(({ address }) => address === request.address);
  if (entry === undefined) throw new FakeErrno('EADDRNOTAVAIL', `ipv${request.family}: address not found`);
  namespace.addresses = namespace.addresses.filter((other) => other !== entry);
  dropConnectedRoutes(link, entry);
  if (entry.family === 4 && !addressesOf(link).some(({ family }) => family === 4)) endIpv4(link);
  return [];
}

function dropConnectedRoutes(link: FakeLink, entry: InterfaceAddressEntry): void {
  const { namespace } = link;
  const kept = addressesOf(link).flatMap((other) => connectedRoutes(link, other));
  const key = (route: { destination: string; table: number }) => `${route.destination} ${route.table}`;
  const keptKeys = new Set(kept.map(key));
  const gone = new Set(
    connectedRoutes(link, entry)
      .map(key)
      .filter((route) => !keptKeys.has(route)),
  );
  namespace.routes = namespace.routes.filter(
    (route) => route.link !== link.index || route.protocol !== 2 || !gone.has(key(route)),
  );
  dropSourceless(namespace, entry);
}

/** IPv4 routes go with the address that they prefer as source. */
function dropSourceless(namespace: NamespaceState, entry: InterfaceAddressEntry): void {
  const source = entry.address.slice(0, entry.address.indexOf('/'));
  const elsewhere = namespace.addresses.some(({ address }) => address.startsWith(`${source}/`));
  if (elsewhere) return;
  namespace.routes = namespace.routes.filter((route) => route.preferredSource !== source);
}

/** RTM_GETADDR */
export function dumpAddresses({ namespace }: FakeContext, message: NetlinkMessage): Buffer[] {
  const header = readStructure(message.payload, IFADDRMSG, 'ifaddrmsg');
  const family = familyOf(header[0]!);
  const link = header.readUInt32LE(4);
  if (link !== 0 && !namespace.links.has(link)) throw new FakeErrno('ENODEV');
  return namespace.addresses
    .filter((entry) => family === undefined || entry.family === family)
    .filter((entry) => link === 0 || entry.link === link)
    .sort((a, b) => a.family - b.family)
    .map((entry) => addAddressRequest(entry).payload as Buffer);
}
