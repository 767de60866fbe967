import { compact } from '@podwire/platform';
import { Attributes, readStructure } from './attributes.js';
import type { NetlinkConnection, NetlinkMessage, NetlinkRequest } from './connection.js';
import { dumpUnless } from './dump.js';
import { AF_UNSPEC, decodeIp, encodeIp, type Family, familyNumber, familyOf } from './ip-address.js';
import { decodeMac, encodeMac } from './mac.js';
import * as rt from './neighbour-attributes.js';
import { PayloadWriter } from './payload.js';
import { NLM_F_CREATE, NLM_F_EXCL, NLM_F_REPLACE } from './protocol.js';

const states = {
  incomplete: 0x01,
  reachable: 0x02,
  stale: 0x04,
  delay: 0x08,
  probe: 0x10,
  failed: 0x20,
  noarp: 0x40,
  permanent: 0x80,
} as const;

/** State of a neighbour entry (NUD_*); `none` has not been resolved at all. */
export type NeighbourState = keyof typeof states | 'none' | number;

export interface NewNeighbour {
  /** Index of the link. */
  readonly link: number;
  readonly address: string;
  readonly mac: string;
  /** `permanent` when absent. */
  readonly state?: keyof typeof states;
}

/** An address that the node answers ARP or neighbour solicitations for on `link` (`ip neighbour add proxy`). */
export interface ProxyNeighbour {
  readonly link: number;
  readonly address: string;
}

export interface Neighbour {
  readonly family: Family;
  readonly link: number;
  readonly address: string;
  readonly mac?: string;
  readonly state: NeighbourState;
  readonly proxy?: boolean;
  readonly router?: boolean;
}

/** Adds an entry. EEXIST when the link has one for this address, also one that the kernel learned. */
export function addNeighbourRequest(neighbour: NewNeighbour): NetlinkRequest {
  return newNeighbour(neighbour, NLM_F_CREATE | NLM_F_EXCL, 'add');
}

/** Adds an entry or changes the one that is there. */
export function replaceNeighbourRequest(neighbour: NewNeighbour): NetlinkRequest {
  return newNeighbour(neighbour, NLM_F_CREATE | NLM_F_REPLACE, 'replace');
}

/** Deletes an entry. ENOENT when there is none. */
export function deleteNeighbourRequest(neighbour: Pick<NewNeighbour, 'link' | 'address'>): NetlinkRequest {
  const payload = writeNeighbour(neighbour, 0, 0).finish();
  return { type: rt.RTM_DELNEIGH, flags: 0, payload, label: `delete neighbour ${neighbour.address}` };
}

/** Adds a proxy entry; one that is there already is fine. */
export function addProxyNeighbourRequest(neighbour: ProxyNeighbour): NetlinkRequest {
  const payload = writeNeighbour(neighbour, states.permanent, rt.NTF_PROXY).finish();
  const label = `add proxy neighbour ${neighbour.address}`;
  return { type: rt.RTM_NEWNEIGH, flags: NLM_F_CREATE | NLM_F_EXCL, payload, label };
}

/** Deletes a proxy entry. ENOENT when there is none. */
export function deleteProxyNeighbourRequest(neighbour: ProxyNeighbour): NetlinkRequest {
  const payload = writeNeighbour(neighbour, 0, rt.NTF_PROXY).finish();
  return { type: rt.RTM_DELNEIGH, flags: 0, payload, label: `delete proxy neighbour ${neighbour.address}` };
}

/**
 * Makes the kernel resolve an address as a packet to it would (`ip neighbour … use`, NTF_USE): of an entry that is not there, or has
 * failed, it asks at once, three times, a second apart. With IPv6 it asks from a link-local address of the link, and
 * sends nothing without one.
 */
export function resolveNeighbourRequest(neighbour: Pick<NewNeighbour, 'link' | 'address'>): NetlinkRequest {
  const payload = writeNeighbour(neighbour, 0, rt.NTF_USE).finish();
  return {
    type: rt.RTM_NEWNEIGH,
    flags: NLM_F_CREATE,
    payload,
    label: `resolve neighbour ${neighbour.address}`,
  };
}

/**
 * Makes the kernel ask again at once for a neighbour whose MAC address it knows: one that is stale is used for five seconds
 * more otherwise. ENOENT when there is none, EINVAL when it has no MAC address.
 */
export function probeNeighbourRequest(neighbour: Pick<NewNeighbour, 'link' | 'address'>): NetlinkRequest {
  const payload = writeNeighbour(neighbour, states.probe, 0).finish();
  return { type: rt.RTM_NEWNEIGH, flags: 0, payload, label: `probe neighbour ${neighbour.address}` };
}

/** Asks for one entry; ENOENT when there is none. The reply decodes with {@link decodeNeighbour}. Linux 5.0 and newer. */
export function getNeighbourRequest(neighbour: Pick<NewNeighbour, 'link' | 'address'>): NetlinkRequest {
  const payload = writeNeighbour(neighbour, 0, 0).finish();
  return { type: rt.RTM_GETNEIGH, flags: 0, payload, label: `get neighbour ${neighbour.address}` };
}

function newNeighbour(neighbour: NewNeighbour, flags: number, verb: string): NetlinkRequest {
  const writer = writeNeighbour(neighbour, states[neighbour.state ?? 'permanent'], 0);
  const payload = writer.bytes(rt.NDA_LLADDR, encodeMac(neighbour.mac)).finish();
  return { type: rt.RTM_NEWNEIGH, flags, payload, label: `${verb} neighbour ${neighbour.address}` };
}

function writeNeighbour(
  { link, address }: { link: number; address: string },
  state: number,
  flags: number,
): PayloadWriter {
  const bytes = encodeIp(address);
  const writer = new PayloadWriter(rt.NDMSG);
  const header = writer.at(0, rt.NDMSG);
  header[0] = familyNumber(bytes.length === 4 ? 4 : 6);
  header.writeInt32LE(link, 4);
  header.writeUInt16LE(state, 8);
  header[10] = flags;
  return writer.bytes(rt.NDA_DST, bytes);
}

/** Decodes an RTM_NEWNEIGH message; `undefined` for one of another family than IP. @throws DecodeError */
export function decodeNeighbour(message: NetlinkMessage): Neighbour | undefined {
  const bytes = readStructure(message.payload, rt.NDMSG, 'ndmsg');
  const attributes = new Attributes(bytes, rt.NDMSG);
  const family = familyOf(bytes[0]!);
  const address = attributes.bytes(rt.NDA_DST);
  if (family === undefined || address === undefined) return undefined;
  const mac = attributes.bytes(rt.NDA_LLADDR);
  return compact({
    family,
    link: bytes.readInt32LE(4),
    address: decodeIp(address),
    mac: mac === undefined ? undefined : decodeMac(mac),
    state: stateName(bytes.readUInt16LE(8)),
    proxy: (bytes[10]! & rt.NTF_PROXY) === 0 ? undefined : true,
    router: (bytes[10]! & rt.NTF_ROUTER) === 0 ? undefined : true,
  });
}

function stateName(number: number): NeighbourState {
  if (number === 0) return 'none';
  const names = Object.keys(states) as (keyof typeof states)[];
  return names.find((name) => states[name] === number) ?? number;
}

export interface NeighbourFilter {
  readonly family?: Family;
  /** Index of the link; filtered by the kernel. */
  readonly link?: number;
  /** The proxy entries instead of the neighbours. */
  readonly proxy?: boolean;
}

/** The neighbours of the namespace, or its proxy entries. */
export function listNeighbours(connection: NetlinkConnection, filter: NeighbourFilter = {}): Neighbour[] {
  const { family, link, proxy = false } = filter;
  const writer = new PayloadWriter(rt.NDMSG);
  const header = writer.at(0, rt.NDMSG);
  header[0] = family === undefined ? AF_UNSPEC : familyNumber(family);
  header[10] = proxy ? rt.NTF_PROXY : 0;
  if (link !== undefined && !proxy) writer.u32(rt.NDA_IFINDEX, link);
  const request = { type: rt.RTM_GETNEIGH, flags: 0, payload: writer.finish(), label: 'list neighbours' };
  return dumpUnless(connection, request, ['ENODEV'])
    .map(decodeNeighbour)
    .filter((entry) => entry !== undefined)
    .filter((entry) => family === undefined || entry.family === family)
    .filter((entry) => link === undefined || entry.link === link);
}
