import { addressFromBytes, addressToBytes, formatAddress, parseAddress } from '@podwire/addresses';
import {
  Attributes,
  DecodeError,
  type NetlinkMessage,
  type NetlinkRequest,
  PayloadWriter,
  readStructure,
} from '@podwire/netlink';
import { compact } from '@podwire/platform';
import { NFGENMSG } from './protocol.js';
import { protocols } from './values.js';

/** Numbers of ctnetlink (include/uapi/linux/netfilter/nfnetlink_conntrack.h); integers are big-endian. */
const NFNL_SUBSYS_CTNETLINK = 1;
const IPCTNL_MSG_CT_GET = (NFNL_SUBSYS_CTNETLINK << 8) | 1;
const IPCTNL_MSG_CT_DELETE = (NFNL_SUBSYS_CTNETLINK << 8) | 2;
const entryAttribute = { original: 1, reply: 2, status: 3, id: 12, zone: 18, filter: 25 } as const;
const tupleAttribute = { ip: 1, protocol: 2 } as const;
const ipAttribute = { source4: 1, destination4: 2, source6: 3, destination6: 4 } as const;
const protocolAttribute = { number: 1, sourcePort: 2, destinationPort: 3 } as const;
const filterAttribute = { original: 1, reply: 2 } as const;
/** Which parts of a tuple count (CTA_FILTER_F_*); unlike the attributes these are in host order. */
const part = {
  source: 1 << 0,
  destination: 1 << 1,
  protocol: 1 << 3,
  sourcePort: 1 << 4,
  destinationPort: 1 << 5,
};

const AF_UNSPEC = 0;
const AF_INET = 2;
const AF_INET6 = 10;

/** One direction of a connection. Ports are absent for protocols without them. */
export interface ConntrackTuple {
  readonly source: string;
  readonly destination: string;
  /** `tcp`, `udp`, `sctp` and the like, or the number. */
  readonly protocol: string | number;
  readonly sourcePort?: number;
  readonly destinationPort?: number;
}

/** An entry of the connection tracking table. Address translation shows as a reply that is no mirror of the original. */
export interface ConntrackEntry {
  readonly family: 4 | 6;
  readonly original: ConntrackTuple;
  readonly reply: ConntrackTuple;
  readonly zone: number;
  readonly id: number;
  /** IPS_* bits (nf_conntrack_common.h). */
  readonly status: number;
}

/** Which entries are meant. What is absent is not looked at. */
export interface ConntrackFilter {
  readonly family: 4 | 6;
  readonly protocol?: 'tcp' | 'udp' | 'sctp' | undefined;
  /**
   * Side that `address` and `port` are compared with: where the first packet was sent to (before translation), or who
   * answers (after it), which for a connection to a host port is the pod. The first when absent.
   */
  readonly match?: 'original-destination' | 'reply-source' | undefined;
  readonly address?: string | undefined;
  readonly port?: number | undefined;
}

/** `conntrack entries with original destination 10.0.0.1, udp port 53` */
export function describeFilter({ family, protocol, match, address, port }: ConntrackFilter): string {
  const end = match === 'reply-source' ? 'reply source' : 'original destination';
  const ports = port === undefined ? '' : ` port ${port}`;
  return `conntrack entries with ${end} ${address ?? `any IPv${family}`}, ${protocol ?? 'any protocol'}${ports}`;
}

/**
 * The part of a filter that the kernel's own filter gets right. It ignores the ports of everything but TCP and UDP, and
 * its comparison of IPv6 addresses is the wrong way round (ctnetlink_filter_match_tuple, Linux 5.8 to at least 6.18): a
 * deletion by an IPv6 address would delete the connections of all others.
 */
function reliablePart(filter: ConntrackFilter): ConntrackFilter {
  const { family, protocol, match, address, port } = checkFilter(filter);
  return {
    family,
    protocol,
    match,
    address: family === 4 ? address : undefined,
    port: protocol === 'tcp' || protocol === 'udp' ? port : undefined,
  };
}

/** Reports if the kernel's filter means the same as this one. */
export function kernelCanMatch(filter: ConntrackFilter): boolean {
  const { address, port } = reliablePart(filter);
  return address === filter.address && port === filter.port;
}

/**
 * Deletes everything that matches, inside the kernel (since Linux 6.11); only for filters that it
 * {@link kernelCanMatch}. Older kernels take the tuple for that of one entry, find it incomplete and refuse it; without
 * a tuple they would empty the whole table, so there always is one.
 */
export function deleteMatchingRequest(filter: ConntrackFilter): NetlinkRequest {
  if (!kernelCanMatch(filter)) throw new RangeError(`the kernel cannot find ${describeFilter(filter)}`);
  const payload = filteredPayload(filter);
  return { type: IPCTNL_MSG_CT_DELETE, flags: 0, payload, label: `delete ${describeFilter(filter)}` };
}

/**
 * For a dump of at least what matches, perhaps more: kernels before 5.8 do not filter, later ones not by everything.
 */
export function listMatchingRequest(filter: ConntrackFilter): NetlinkRequest {
  const payload = filteredPayload(reliablePart(filter));
  return { type: IPCTNL_MSG_CT_GET, flags: 0, payload, label: `list ${describeFilter(filter)}` };
}

/**
 * For a dump of all entries of both families: one walk. The kernel walks through all buckets of its table, empty or not:
 * some 6 ms where it has 262,144 of them, as machines with much memory have.
 */
export function listAllRequest(): NetlinkRequest {
  return {
    type: IPCTNL_MSG_CT_GET,
    flags: 0,
    payload: startPayload(AF_UNSPEC).finish(),
    label: 'list conntrack entries',
  };
}

/** `version` 1 makes a deletion look at the family at all (ctnetlink_del_conntrack). */
function startPayload(family: number): PayloadWriter {
  const writer = new PayloadWriter(NFGENMSG);
  writer.at(0, NFGENMSG).set([family, 1]);
  return writer;
}

const numberOf = (family: 4 | 6): number => (family === 4 ? AF_INET : AF_INET6);

function filteredPayload(filter: ConntrackFilter): Buffer {
  const reply = filter.match === 'reply-source';
  const writer = startPayload(numberOf(filter.family));
  writer.nest(reply ? entryAttribute.reply : entryAttribute.original, () =>
    writeTuple(writer, filter, reply),
  );
  writer.nest(entryAttribute.filter, () => {
    writer.u32(filterAttribute.original, reply ? 0 : partsOf(filter, part.destination, part.destinationPort));
    writer.u32(filterAttribute.reply, reply ? partsOf(filter, part.source, part.sourcePort) : 0);
  });
  return writer.finish();
}

function partsOf(
  { address, protocol, port }: ConntrackFilter,
  addressPart: number,
  portPart: number,
): number {
  return (
    (address === undefined ? 0 : addressPart) |
    (protocol === undefined ? 0 : part.protocol) |
    (port === undefined ? 0 : portPart)
  );
}

function writeTuple(writer: PayloadWriter, filter: ConntrackFilter, reply: boolean): void {
  const { family, address, protocol, port } = filter;
  if (address !== undefined) {
    const ends =
      family === 4
        ? [ipAttribute.source4, ipAttribute.destination4]
        : [ipAttribute.source6, ipAttribute.destination6];
    writer.nest(tupleAttribute.ip, () =>
      writer.bytes(ends[reply ? 0 : 1]!, addressToBytes(parseAddress(address))),
    );
  }
  if (protocol === undefined) return;
  writer.nest(tupleAttribute.protocol, () => {
    writer.u8(protocolAttribute.number, protocols[protocol]);
    const end = reply ? protocolAttribute.sourcePort : protocolAttribute.destinationPort;
    if (port !== undefined) writer.be16(end, port);
  });
}

/** @throws RangeError for a filter that means everything or does not fit together. */
function checkFilter(filter: ConntrackFilter): ConntrackFilter {
  const { family, address, protocol, port } = filter;
  if (address === undefined && protocol === undefined)
    throw new RangeError('a filter without address and protocol');
  if (port !== undefined && protocol === undefined) throw new RangeError(`port ${port} of no protocol`);
  if (port !== undefined && !(Number.isInteger(port) && port >= 0 && port < 65_536)) {
    throw new RangeError(`not a port: ${port}`);
  }
  if (address !== undefined && parseAddress(address).family !== family) {
    throw new RangeError(`${address} is no address of IPv${family}`);
  }
  return filter;
}

/** Deletes this one entry and none that has taken its place since. */
export function deleteEntryRequest(message: NetlinkMessage): NetlinkRequest {
  const { attributes, payload } = open(message);
  const writer = startPayload(numberOf(familyOf(payload)));
  for (const type of [entryAttribute.original, entryAttribute.id, entryAttribute.zone]) {
    const value = attributes.bytes(type);
    if (value !== undefined) writer.bytes(type, value);
  }
  return {
    type: IPCTNL_MSG_CT_DELETE,
    flags: 0,
    payload: writer.finish(),
    label: 'delete a conntrack entry',
  };
}

function open(message: NetlinkMessage): { payload: Buffer; attributes: Attributes } {
  const payload = readStructure(message.payload, NFGENMSG, 'struct nfgenmsg');
  return { payload, attributes: new Attributes(payload, NFGENMSG) };
}

function familyOf(payload: Buffer): 4 | 6 {
  const family = payload.readUInt8(0);
  if (family === AF_INET) return 4;
  if (family === AF_INET6) return 6;
  throw new DecodeError(`a conntrack entry of address family ${family}`);
}

export function decodeEntry(message: NetlinkMessage): ConntrackEntry {
  const { attributes, payload } = open(message);
  const family = familyOf(payload);
  return {
    family,
    original: decodeTuple(attributes.nested(entryAttribute.original), family),
    reply: decodeTuple(attributes.nested(entryAttribute.reply), family),
    zone: attributes.be16(entryAttribute.zone) ?? 0,
    id: attributes.be32(entryAttribute.id) ?? 0,
    status: attributes.be32(entryAttribute.status) ?? 0,
  };
}

const protocolNames = new Map<number, string>(
  Object.entries(protocols).map(([name, number]) => [number, name]),
);

function decodeTuple(tuple: Attributes | undefined, family: 4 | 6): ConntrackTuple {
  const ip = tuple?.nested(tupleAttribute.ip);
  const protocol = tuple?.nested(tupleAttribute.protocol);
  const number = protocol?.u8(protocolAttribute.number);
  if (ip === undefined || protocol === undefined || number === undefined)
    throw new DecodeError('an incomplete tuple');
  const [source, destination] =
    family === 4
      ? [ipAttribute.source4, ipAttribute.destination4]
      : [ipAttribute.source6, ipAttribute.destination6];
  const sourcePort = protocol.be16(protocolAttribute.sourcePort);
  const destinationPort = protocol.be16(protocolAttribute.destinationPort);
  return {
    source: decodeAddress(ip.bytes(source), family),
    destination: decodeAddress(ip.bytes(destination), family),
    protocol: protocolNames.get(number) ?? number,
    ...compact({ sourcePort, destinationPort }),
  };
}

function decodeAddress(bytes: Buffer | undefined, family: 4 | 6): string {
  if (bytes?.length !== (family === 4 ? 4 : 16))
    throw new DecodeError(`an IPv${family} address of ${bytes?.length} bytes`);
  return formatAddress(addressFromBytes(bytes));
}

/** Reports if an entry is one of those that a filter means. Addresses of entries are canonical. */
export function matches(filter: ConntrackFilter): (entry: ConntrackEntry) => boolean {
  const { family, protocol, match, port } = checkFilter(filter);
  const address = filter.address === undefined ? undefined : formatAddress(parseAddress(filter.address));
  return ({ original, reply, family: of }) => {
    const [end, endPort] =
      match === 'reply-source'
        ? [reply.source, reply.sourcePort]
        : [original.destination, original.destinationPort];
    return (
      of === family &&
      (protocol === undefined || original.protocol === protocol) &&
      (address === undefined || end === address) &&
      (port === undefined || endPort === port)
    );
  };
}
