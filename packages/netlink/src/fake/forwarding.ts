import { Attributes, readStructure } from '../attributes.js';
import type { NetlinkMessage } from '../connection.js';
import { addForwardingEntryRequest, decodeForwardingEntry, type ForwardingEntry } from '../forwarding.js';
import * as rt from '../neighbour-attributes.js';
import { NLM_F_APPEND, NLM_F_CREATE, NLM_F_EXCL } from '../protocol.js';
import { FakeErrno } from './errno.js';
import type { FakeContext, FakeLink, NamespaceState } from './state.js';

const ALL_FRAMES = '00:00:00:00:00:00';

/** RTM_NEWNEIGH of the bridge family. */
export function newForwarding({ namespace }: FakeContext, message: NetlinkMessage): Buffer[] {
  const request = readRequest(namespace, message);
  const same = namespace.forwarding.filter((entry) => hasSameKey(entry, request));
  if (same.length === 0 && (message.flags & NLM_F_CREATE) === 0) throw new FakeErrno('ENOENT');
  if (same.length > 0 && (message.flags & NLM_F_EXCL) !== 0) throw new FakeErrno('EEXIST');
  const append = (message.flags & NLM_F_APPEND) !== 0 && request.mac === ALL_FRAMES;
  const replaced = append ? same.filter((entry) => entry.remote === request.remote) : same;
  namespace.forwarding = [...namespace.forwarding.filter((entry) => !replaced.includes(entry)), request];
  return [];
}

function readRequest(namespace: NamespaceState, message: NetlinkMessage): ForwardingEntry {
  const request = decodeForwardingEntry(message);
  if (request === undefined) throw new FakeErrno('EINVAL', 'invalid address');
  const link = namespace.links.get(request.link);
  if (link === undefined) throw new FakeErrno('ENODEV', 'unknown ifindex');
  return { ...request, ...masterOf(link, request) };
}

function masterOf(link: FakeLink, request: ForwardingEntry): { master?: number } {
  if (request.table === 'self') return {};
  if (link.master === undefined) throw new FakeErrno('EOPNOTSUPP');
  return { master: link.master };
}

const hasSameKey = (a: ForwardingEntry, b: ForwardingEntry): boolean =>
  a.link === b.link && a.mac === b.mac && a.table === b.table && a.vlan === b.vlan;

/** RTM_DELNEIGH of the bridge family. */
export function deleteForwarding({ namespace }: FakeContext, message: NetlinkMessage): Buffer[] {
  const request = readRequest(namespace, message);
  const meant = (entry: ForwardingEntry) =>
    hasSameKey(entry, request) && (request.remote === undefined || entry.remote === request.remote);
  // With a remote that the entry does not have, VXLAN says nothing and does nothing (__vxlan_fdb_delete).
  if (!namespace.forwarding.some((entry) => hasSameKey(entry, request))) throw new FakeErrno('ENOENT');
  namespace.forwarding = namespace.forwarding.filter((entry) => !meant(entry));
  return [];
}

/** RTM_GETNEIGH of the bridge family. */
export function dumpForwarding({ namespace }: FakeContext, message: NetlinkMessage): Buffer[] {
  const header = readStructure(message.payload, rt.NDMSG, 'ndmsg');
  const link = header.readInt32LE(4);
  const master = new Attributes(header, rt.NDMSG).u32(rt.NDA_MASTER);
  if (link !== 0 && !namespace.links.has(link)) throw new FakeErrno('ENODEV');
  return namespace.forwarding
    .filter((entry) => link === 0 || entry.link === link)
    .filter((entry) => master === undefined || entry.master === master)
    .map(encodeForwarding);
}

function encodeForwarding(entry: ForwardingEntry): Buffer {
  const payload = addForwardingEntryRequest(entry).payload as Buffer;
  if (entry.master === undefined) return payload;
  const master = Buffer.alloc(8);
  master.writeUInt16LE(8, 0);
  master.writeUInt16LE(rt.NDA_MASTER, 2);
  master.writeUInt32LE(entry.master, 4);
  return Buffer.concat([payload, master]);
}
