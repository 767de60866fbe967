import { addressToBytes, parseInterfaceAddress } from '@podwire/addresses';
import { compact } from '@podwire/platform';
import { Attributes, readStructure } from './attributes.js';
import type { NetlinkConnection, NetlinkMessage, NetlinkRequest } from './connection.js';
import { type DumpLimit, dumpUnless } from './dump.js';
import { AF_UNSPEC, decodeIp, encodeIp, type Family, familyNumber, familyOf } from './ip-address.js';
import { PayloadWriter } from './payload.js';
import { NLM_F_CREATE, NLM_F_EXCL, NLM_F_REPLACE } from './protocol.js';
import { type Scope, scopeName, scopeNumber } from './scope.js';

export const RTM_NEWADDR = 20;
export const RTM_DELADDR = 21;
export const RTM_GETADDR = 22;

/** struct ifaddrmsg: family, prefix length, flags, scope (u8 each), index of the link (u32 at 4). */
export const IFADDRMSG = 8;

export const IFA_ADDRESS = 1;
export const IFA_LOCAL = 2;
export const IFA_LABEL = 3;
export const IFA_BROADCAST = 4;
const IFA_CACHEINFO = 6;
export const IFA_FLAGS = 8;
const IFA_RT_PRIORITY = 9;

/** ip-address(8) flags, by the bit that IFA_FLAGS has for them. */
export const addressFlagBits = {
  secondary: 0x01,
  noDad: 0x02,
  optimistic: 0x04,
  dadFailed: 0x08,
  home: 0x10,
  deprecated: 0x20,
  tentative: 0x40,
  permanent: 0x80,
  manageTemporary: 0x100,
  noPrefixRoute: 0x200,
  multicastAutojoin: 0x400,
  stablePrivacy: 0x800,
} as const;

export type AddressFlag = keyof typeof addressFlagBits;

/** An address on a link. */
export interface InterfaceAddressEntry {
  readonly family: Family;
  /** Index of the link. */
  readonly link: number;
  /** ADDRESS/LENGTH; the length is that of the peer's prefix if there is a peer. */
  readonly address: string;
  /** The other end of a point-to-point link. */
  readonly peer?: string;
  readonly broadcast?: string;
  readonly scope: Scope;
  readonly flags: readonly AddressFlag[];
  /** IPv4 alias name. */
  readonly label?: string;
  /** Metric of the route to the prefix. */
  readonly metric?: number;
  /** Seconds; absent means for ever. */
  readonly validLifetime?: number;
  readonly preferredLifetime?: number;
  /** When the kernel made it: hundredths of a second of its own clock, which another address of the same text does not share. */
  readonly created?: number;
}

export interface NewAddress {
  readonly link: number;
  /** ADDRESS/LENGTH */
  readonly address: string;
  readonly peer?: string;
  readonly broadcast?: string;
  readonly scope?: Scope;
  /** `noDad` makes an IPv6 address usable at once; `noPrefixRoute` leaves the route to its prefix out. */
  readonly flags?: readonly AddressFlag[];
  readonly label?: string;
  readonly metric?: number;
}

/** Adds an address. EEXIST when the link has it, ENODEV when the link is gone. */
export function addAddressRequest(address: NewAddress): NetlinkRequest {
  return addressRequest(RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL, address, 'add');
}

/** Adds an address, or changes lifetime, metric and flags of the same address. */
export function replaceAddressRequest(address: NewAddress): NetlinkRequest {
  return addressRequest(RTM_NEWADDR, NLM_F_CREATE | NLM_F_REPLACE, address, 'replace');
}

/** Removes an address. EADDRNOTAVAIL when the link does not have it with this prefix length. */
export function deleteAddressRequest(address: Pick<NewAddress, 'link' | 'address' | 'peer'>): NetlinkRequest {
  return addressRequest(RTM_DELADDR, 0, address, 'delete');
}

function addressRequest(type: number, flags: number, entry: NewAddress, verb: string): NetlinkRequest {
  const { address, length } = parseInterfaceAddress(entry.address);
  const writer = new PayloadWriter(IFADDRMSG);
  const header = writer.at(0, IFADDRMSG);
  header[0] = familyNumber(address.family);
  header[1] = length;
  header[3] = scopeNumber(entry.scope ?? 'global');
  header.writeUInt32LE(entry.link, 4);
  const local = addressToBytes(address);
  writer.bytes(IFA_LOCAL, local);
  writer.bytes(IFA_ADDRESS, entry.peer === undefined ? local : encodeIp(entry.peer));
  writeOptions(writer, entry);
  return { type, flags, payload: writer.finish(), label: `${verb} address ${entry.address}` };
}

function writeOptions(writer: PayloadWriter, { broadcast, label, flags, metric }: NewAddress): void {
  if (broadcast !== undefined) writer.bytes(IFA_BROADCAST, encodeIp(broadcast));
  if (label !== undefined) writer.text(IFA_LABEL, label);
  if (flags !== undefined)
    writer.u32(
      IFA_FLAGS,
      flags.reduce((bits, flag) => bits | addressFlagBits[flag], 0),
    );
  if (metric !== undefined) writer.u32(IFA_RT_PRIORITY, metric);
}

/** Decodes an RTM_NEWADDR message; `undefined` for one of another family than IP. @throws DecodeError */
export function decodeAddress(message: NetlinkMessage): InterfaceAddressEntry | undefined {
  const bytes = readStructure(message.payload, IFADDRMSG, 'ifaddrmsg');
  const attributes = new Attributes(bytes, IFADDRMSG);
  const family = familyOf(bytes[0]!);
  const target = attributes.bytes(IFA_ADDRESS);
  // IPv6 leaves IFA_LOCAL out unless there is a peer.
  const local = attributes.bytes(IFA_LOCAL) ?? target;
  if (family === undefined || local === undefined) return undefined;
  const broadcast = attributes.bytes(IFA_BROADCAST);
  return compact({
    family,
    link: bytes.readUInt32LE(4),
    address: `${decodeIp(local)}/${bytes[1]!}`,
    peer: target === undefined || target.equals(local) ? undefined : decodeIp(target),
    broadcast: broadcast === undefined ? undefined : decodeIp(broadcast),
    scope: scopeName(bytes[3]!),
    flags: flagNames(attributes.u32(IFA_FLAGS) ?? bytes[2]!),
    label: attributes.text(IFA_LABEL),
    metric: attributes.u32(IFA_RT_PRIORITY),
    ...readLifetimes(attributes.bytes(IFA_CACHEINFO)),
  });
}

function flagNames(bits: number): AddressFlag[] {
  return (Object.keys(addressFlagBits) as AddressFlag[]).filter(
    (name) => (bits & addressFlagBits[name]) !== 0,
  );
}

const FOREVER = 0xffffffff;

/** struct ifa_cacheinfo: preferred and valid lifetime in seconds, then when it was made and when it was last changed. */
function readLifetimes(bytes: Buffer | undefined) {
  if (bytes === undefined || bytes.length < 12) return {};
  const lifetime = (offset: number) => {
    const seconds = bytes.readUInt32LE(offset);
    return seconds === FOREVER ? undefined : seconds;
  };
  return { preferredLifetime: lifetime(0), validLifetime: lifetime(4), created: bytes.readUInt32LE(8) };
}

export interface AddressFilter extends DumpLimit {
  readonly family?: Family;
  /** Index of the link. */
  readonly link?: number;
}

/** The addresses of the namespace or, filtered by the kernel, of one link (none if it is gone). */
export function listAddresses(
  connection: NetlinkConnection,
  filter: AddressFilter = {},
): InterfaceAddressEntry[] {
  const { family, link } = filter;
  return listAddressMessages(connection, filter)
    .map(decodeAddress)
    .filter((entry) => entry !== undefined)
    .filter((entry) => family === undefined || entry.family === family)
    .filter((entry) => link === undefined || entry.link === link);
}

/** The same as the kernel wrote them, for {@link repeatAddressRequests}. Others may be among them. */
export function listAddressMessages(
  connection: NetlinkConnection,
  { family, link, limit }: AddressFilter = {},
): NetlinkMessage[] {
  const payload = Buffer.alloc(IFADDRMSG);
  payload[0] = family === undefined ? AF_UNSPEC : familyNumber(family);
  payload.writeUInt32LE(link ?? 0, 4);
  const request = { type: RTM_GETADDR, flags: 0, payload, label: 'list addresses' };
  return dumpUnless(connection, request, ['ENODEV'], limit);
}
