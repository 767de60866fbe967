/** Connection tracking: who speaks with whom, in zones, and how addresses are translated. */
import { parseAddress } from '@podwire/addresses';
import type { Nat } from '../../actions.js';
import type { FieldName } from '../../fields.js';
import type { Packet } from './packet.js';

interface Tuple {
  readonly protocol: bigint;
  readonly source: bigint;
  readonly target: bigint;
  readonly sourcePort: bigint;
  readonly targetPort: bigint;
}

/** One connection of one zone. */
export interface Connection {
  readonly zone: number;
  readonly original: Tuple;
  /** As answers come: the reverse of the original, after translation. */
  readonly reply: Tuple;
  readonly translates: 'src' | 'dst' | undefined;
  readonly mark: bigint;
  readonly label: bigint;
  /** An answer was seen. */
  readonly isAnswered: boolean;
}

/** Where a packet of a protocol has its addresses and ports. */
interface Places {
  readonly source: FieldName;
  readonly target: FieldName;
  readonly sourcePort: FieldName | undefined;
  readonly targetPort: FieldName | undefined;
}

const portNames: Readonly<Record<string, string>> = { 6: 'tcp', 17: 'udp', 132: 'sctp' };

function placesOf(packet: Packet): Places {
  const family = packet.get('eth_type') === 0x86ddn ? 'ipv6' : 'ip';
  const protocol = portNames[String(packet.get('ip_proto'))];
  return {
    source: `${family}_src`,
    target: `${family}_dst`,
    sourcePort: protocol === undefined ? undefined : (`${protocol}_src` as FieldName),
    targetPort: protocol === undefined ? undefined : (`${protocol}_dst` as FieldName),
  };
}

function tupleOf(packet: Packet): Tuple {
  const { source, target, sourcePort, targetPort } = placesOf(packet);
  const real = (name: FieldName | undefined): bigint => (name === undefined ? 0n : packet.real(name));
  return {
    protocol: packet.get('ip_proto'),
    source: real(source),
    target: real(target),
    sourcePort: real(sourcePort),
    targetPort: real(targetPort),
  };
}

const reverse = ({ protocol, source, target, sourcePort, targetPort }: Tuple): Tuple => ({
  ...{ protocol, source: target, target: source, sourcePort: targetPort, targetPort: sourcePort },
});

const names = ['protocol', 'source', 'target', 'sourcePort', 'targetPort'] as const;
const equals = (a: Tuple, b: Tuple): boolean => names.every((name) => a[name] === b[name]);

export interface Found {
  readonly connection: Connection;
  readonly isReply: boolean;
}

/** The connection of a packet in a zone. */
export function findConnection(
  connections: readonly Connection[],
  packet: Packet,
  zone: number,
): Found | undefined {
  const tuple = tupleOf(packet);
  for (const connection of connections) {
    if (connection.zone !== zone) continue;
    if (equals(connection.original, tuple)) return { connection, isReply: false };
    if (equals(connection.reply, tuple)) return { connection, isReply: true };
  }
  return undefined;
}

/** The first address and port of the range; a real switch may take others of it. */
function translate(tuple: Tuple, { direction, addresses, ports }: Nat): Tuple {
  if (direction === undefined || addresses === undefined) return tuple;
  const address = parseAddress(addresses.split('-')[0]!).value;
  const port = ports === undefined ? undefined : BigInt(ports[0]);
  return direction === 'src'
    ? { ...tuple, source: address, sourcePort: port ?? tuple.sourcePort }
    : { ...tuple, target: address, targetPort: port ?? tuple.targetPort };
}

/** A new connection of the packet. */
export function createConnection(packet: Packet, zone: number, nat: Nat | undefined): Connection {
  const original = tupleOf(packet);
  const reply = reverse(nat === undefined ? original : translate(original, nat));
  const isTranslated = !equals(reply, reverse(original));
  const translates = isTranslated ? nat?.direction : undefined;
  return { zone, original, reply, translates, mark: 0n, label: 0n, isAnswered: false };
}

/** Changes the packet as its connection says. */
export function translatePacket(packet: Packet, { connection, isReply }: Found): void {
  const to = reverse(isReply ? connection.original : connection.reply);
  const places = placesOf(packet);
  for (const name of ['source', 'target', 'sourcePort', 'targetPort'] as const) {
    const field = places[name];
    if (field !== undefined && to[name] !== packet.real(field)) packet.translate(field, to[name]);
  }
}

const bit = { new: 1n, est: 2n, rpl: 8n, trk: 32n, snat: 64n, dnat: 128n } as const;

/** The end that is translated: in answers the other one. */
function translationOf({ connection: { translates }, isReply }: Found): bigint {
  if (translates === undefined) return 0n;
  return (translates === 'src') === isReply ? bit.dnat : bit.snat;
}

/** The state of a packet: a connection is new until an answer was seen. */
export function stateOf(found: Found | undefined): bigint {
  const { connection, isReply = false } = found ?? {};
  const isNew = connection === undefined || !(connection.isAnswered || isReply);
  return bit.trk | (isNew ? bit.new : bit.est) | (isReply ? bit.rpl : 0n);
}

/** The state of a packet that its connection has translated. */
export const translatedState = (found: Found | undefined): bigint =>
  found === undefined ? 0n : translationOf(found);

/** A tracked packet knows the first packet of its connection. */
export function setOriginal(packet: Packet, { original }: Connection): void {
  const prefix = packet.get('eth_type') === 0x86ddn ? 'ct_ipv6' : 'ct_nw';
  packet.set('ct_nw_proto', original.protocol);
  packet.set(`${prefix}_src`, original.source);
  packet.set(`${prefix}_dst`, original.target);
  packet.set('ct_tp_src', original.sourcePort);
  packet.set('ct_tp_dst', original.targetPort);
}
