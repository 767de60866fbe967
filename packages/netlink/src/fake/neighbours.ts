import { Attributes, readStructure } from '../attributes.js';
import type { NetlinkMessage } from '../connection.js';
import { AF_BRIDGE, familyOf } from '../ip-address.js';
import {
  addProxyNeighbourRequest,
  decodeNeighbour,
  type Neighbour,
  type NewNeighbour,
  probeNeighbourRequest,
  replaceNeighbourRequest,
} from '../neighbour.js';
import * as rt from '../neighbour-attributes.js';
import { NLM_F_CREATE, NLM_F_EXCL } from '../protocol.js';
import { FakeErrno } from './errno.js';
import { deleteForwarding, dumpForwarding, newForwarding } from './forwarding.js';
import { addressesOf } from './link-life.js';
import type { FakeContext, FakeLink, NamespaceState } from './state.js';

const isBridge = (message: NetlinkMessage): boolean => message.payload[0] === AF_BRIDGE;

/** RTM_NEWNEIGH */
export function newNeighbour(context: FakeContext, message: NetlinkMessage): Buffer[] {
  if (isBridge(message)) return newForwarding(context, message);
  const { namespace } = context;
  const request = readRequest(namespace, message);
  const existing = namespace.neighbours.find((entry) => isSame(entry, request));
  const isUsed = (message.payload[10]! & rt.NTF_USE) !== 0;
  if (isUsed || request.state === 'probe') return resolve(context, { request, existing, isUsed });
  if (request.proxy === true) put(namespace, existing, { ...request, state: 'none' });
  else if (existing === undefined && (message.flags & NLM_F_CREATE) === 0) throw new FakeErrno('ENOENT');
  else if (existing !== undefined && (message.flags & NLM_F_EXCL) !== 0) throw new FakeErrno('EEXIST');
  else put(namespace, existing, request);
  return [];
}

interface Question {
  readonly request: Neighbour;
  readonly existing: Neighbour | undefined;
  readonly isUsed: boolean;
}

/** The kernel asks at once, and has the answer, or none, before the next look. */
function resolve({ namespace }: FakeContext, { request, existing, isUsed }: Question): Buffer[] {
  if (!isUsed && existing === undefined) throw new FakeErrno('ENOENT');
  if (!isUsed && existing?.mac === undefined) throw new FakeErrno('EINVAL');
  if (existing?.state === 'permanent') return [];
  const { family, link, address } = request;
  const mac = askFor(namespace.links.get(link)!, address);
  const answer = mac === undefined ? { state: 'failed' as const } : { state: 'reachable' as const, mac };
  put(namespace, existing, { family, link, address, ...answer });
  return [];
}

/** The MAC address of the other end of a veth, where that has the address. */
function askFor({ up, peer }: FakeLink, address: string): string | undefined {
  if (!up || peer?.up !== true) return undefined;
  const isThere = addressesOf(peer).some((entry) => entry.address.startsWith(`${address}/`));
  return isThere ? peer.mac : undefined;
}

function readRequest(namespace: NamespaceState, message: NetlinkMessage): Neighbour {
  const request = decodeNeighbour(message);
  if (request === undefined) throw new FakeErrno('EINVAL', 'Network address not specified');
  if (!namespace.links.has(request.link)) throw new FakeErrno('ENODEV');
  if (request.mac !== undefined && request.mac.split(':').length !== 6) {
    throw new FakeErrno('EINVAL', 'Invalid link address');
  }
  return request;
}

const isSame = (a: Neighbour, b: Neighbour): boolean =>
  a.link === b.link && a.address === b.address && a.proxy === b.proxy;

function put(namespace: NamespaceState, old: Neighbour | undefined, entry: Neighbour): void {
  namespace.neighbours = [...namespace.neighbours.filter((other) => other !== old), entry];
}

/** RTM_DELNEIGH */
export function deleteNeighbour(context: FakeContext, message: NetlinkMessage): Buffer[] {
  if (isBridge(message)) return deleteForwarding(context, message);
  const { namespace } = context;
  const request = readRequest(namespace, message);
  const existing = namespace.neighbours.find((entry) => isSame(entry, request));
  if (existing === undefined) throw new FakeErrno('ENOENT');
  namespace.neighbours = namespace.neighbours.filter((entry) => entry !== existing);
  return [];
}

/** RTM_GETNEIGH for one entry. */
export function getNeighbour({ namespace }: FakeContext, message: NetlinkMessage): Buffer[] {
  if (isBridge(message)) throw new FakeErrno('EOPNOTSUPP');
  const request = readRequest(namespace, message);
  const existing = namespace.neighbours.find((entry) => isSame(entry, request));
  if (existing === undefined) throw new FakeErrno('ENOENT');
  return [encodeNeighbour(existing)];
}

/** RTM_GETNEIGH */
export function dumpNeighbours(context: FakeContext, message: NetlinkMessage): Buffer[] {
  if (isBridge(message)) return dumpForwarding(context, message);
  const { namespace } = context;
  const header = readStructure(message.payload, rt.NDMSG, 'ndmsg');
  const family = familyOf(header[0]!);
  const proxy = (header[10]! & rt.NTF_PROXY) !== 0;
  const link = new Attributes(header, rt.NDMSG).u32(rt.NDA_IFINDEX);
  if (link !== undefined && !namespace.links.has(link)) throw new FakeErrno('ENODEV');
  return namespace.neighbours
    .filter((entry) => family === undefined || entry.family === family)
    .filter((entry) => (entry.proxy === true) === proxy)
    .filter((entry) => link === undefined || entry.link === link)
    .map(encodeNeighbour);
}

function encodeNeighbour(entry: Neighbour): Buffer {
  if (entry.state === 'failed') {
    const payload = probeNeighbourRequest(entry).payload as Buffer;
    payload.writeUInt16LE(rt.NUD_FAILED, 8);
    return payload;
  }
  if (entry.proxy !== true) return replaceNeighbourRequest(entry as NewNeighbour).payload as Buffer;
  const payload = addProxyNeighbourRequest(entry).payload as Buffer;
  payload.writeUInt16LE(0, 8);
  return payload;
}
