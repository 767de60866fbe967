import { compact } from '@podwire/platform';
import { Attributes, readStructure } from './attributes.js';
import type { NetlinkConnection, NetlinkMessage, NetlinkRequest } from './connection.js';
import { dumpUnless } from './dump.js';
import { AF_BRIDGE, decodeIp, encodeIp } from './ip-address.js';
import { decodeMac, encodeMac } from './mac.js';
import * as rt from './neighbour-attributes.js';
import { PayloadWriter } from './payload.js';
import { NLM_F_APPEND, NLM_F_CREATE, NLM_F_EXCL, NLM_F_REPLACE } from './protocol.js';

/** Where a frame for a MAC address goes (bridge-fdb(8)): in a device's own table, or in that of its bridge. */
export interface NewForwardingEntry {
  /** Index of the link: the VXLAN device, or the bridge's port. */
  readonly link: number;
  /** `00:00:00:00:00:00` in a VXLAN device is for all frames without an entry of their own. */
  readonly mac: string;
  /** In the device's own table (`self`, VXLAN) or in that of the bridge it belongs to. */
  readonly table: 'self' | 'master';
  /** Address of the VXLAN peer. */
  readonly remote?: string;
  /** VXLAN: other UDP port, network identifier or outgoing link than the device's. */
  readonly port?: number;
  readonly vni?: number;
  readonly via?: number;
  readonly vlan?: number;
}

export interface ForwardingEntry extends NewForwardingEntry {
  readonly permanent: boolean;
  /** Index of the bridge. */
  readonly master?: number;
}

/** Adds an entry. EEXIST when the table has one for this address. */
export function addForwardingEntryRequest(entry: NewForwardingEntry): NetlinkRequest {
  return newEntry(entry, NLM_F_CREATE | NLM_F_EXCL, 'add');
}

/** Adds an entry or changes the one that is there. */
export function replaceForwardingEntryRequest(entry: NewForwardingEntry): NetlinkRequest {
  return newEntry(entry, NLM_F_CREATE | NLM_F_REPLACE, 'replace');
}

/** Adds one more remote for an address of a VXLAN device; frames for it go to all of them. */
export function appendForwardingEntryRequest(entry: NewForwardingEntry): NetlinkRequest {
  return newEntry(entry, NLM_F_CREATE | NLM_F_APPEND, 'append');
}

/** Deletes an entry, or one remote of it. ENOENT when there is no entry; a VXLAN device says nothing to a remote it does not have. */
export function deleteForwardingEntryRequest(entry: NewForwardingEntry): NetlinkRequest {
  const payload = encodeEntry(entry, 0);
  return { type: rt.RTM_DELNEIGH, flags: 0, payload, label: `delete forwarding entry ${entry.mac}` };
}

function newEntry(entry: NewForwardingEntry, flags: number, verb: string): NetlinkRequest {
  const payload = encodeEntry(entry, rt.NUD_PERMANENT);
  return { type: rt.RTM_NEWNEIGH, flags, payload, label: `${verb} forwarding entry ${entry.mac}` };
}

function encodeEntry(entry: NewForwardingEntry, state: number): Buffer {
  const { link, mac, table, remote, port, vni, via, vlan } = entry;
  const writer = new PayloadWriter(rt.NDMSG);
  const header = writer.at(0, rt.NDMSG);
  header[0] = AF_BRIDGE;
  header.writeInt32LE(link, 4);
  header.writeUInt16LE(state, 8);
  header[10] = table === 'self' ? rt.NTF_SELF : rt.NTF_MASTER;
  writer.bytes(rt.NDA_LLADDR, encodeMac(mac));
  if (remote !== undefined) writer.bytes(rt.NDA_DST, encodeIp(remote));
  if (port !== undefined) writer.be16(rt.NDA_PORT, port);
  if (vni !== undefined) writer.u32(rt.NDA_VNI, vni);
  if (via !== undefined) writer.u32(rt.NDA_IFINDEX, via);
  if (vlan !== undefined) writer.u16(rt.NDA_VLAN, vlan);
  return writer.finish();
}

/** Decodes an RTM_NEWNEIGH message of the bridge family; `undefined` for one without an address. @throws DecodeError */
export function decodeForwardingEntry(message: NetlinkMessage): ForwardingEntry | undefined {
  const bytes = readStructure(message.payload, rt.NDMSG, 'ndmsg');
  const attributes = new Attributes(bytes, rt.NDMSG);
  const mac = attributes.bytes(rt.NDA_LLADDR);
  if (bytes[0] !== AF_BRIDGE || mac === undefined) return undefined;
  const remote = attributes.bytes(rt.NDA_DST);
  return compact({
    link: bytes.readInt32LE(4),
    mac: decodeMac(mac),
    table: (bytes[10]! & rt.NTF_SELF) === 0 ? ('master' as const) : ('self' as const),
    permanent: (bytes.readUInt16LE(8) & rt.NUD_PERMANENT) !== 0,
    remote: remote === undefined ? undefined : decodeIp(remote),
    port: attributes.be16(rt.NDA_PORT),
    vni: attributes.u32(rt.NDA_VNI),
    via: attributes.u32(rt.NDA_IFINDEX),
    vlan: attributes.u16(rt.NDA_VLAN),
    master: attributes.u32(rt.NDA_MASTER),
  });
}

/** The forwarding entries of the namespace, or of one link or one bridge, filtered by the kernel. */
export function listForwardingEntries(
  connection: NetlinkConnection,
  filter: { link?: number; master?: number } = {},
): ForwardingEntry[] {
  const { link, master } = filter;
  const writer = new PayloadWriter(rt.NDMSG);
  const header = writer.at(0, rt.NDMSG);
  header[0] = AF_BRIDGE;
  header.writeInt32LE(link ?? 0, 4);
  if (master !== undefined) writer.u32(rt.NDA_MASTER, master);
  const request = {
    type: rt.RTM_GETNEIGH,
    flags: 0,
    payload: writer.finish(),
    label: 'list forwarding entries',
  };
  return dumpUnless(connection, request, ['ENODEV'])
    .map(decodeForwardingEntry)
    .filter((entry) => entry !== undefined)
    .filter((entry) => link === undefined || entry.link === link)
    .filter((entry) => master === undefined || entry.master === master);
}
