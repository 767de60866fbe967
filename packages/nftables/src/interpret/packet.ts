/** A packet as rules see it, and what they read of it. */
import type { CtState, Field, FieldValue } from '../rules/statement.js';
import { protocols } from '../values.js';

export interface RulePacket {
  readonly source: string;
  readonly destination: string;
  /** IP protocol number. */
  readonly protocol: number;
  readonly sourcePort?: number | undefined;
  readonly destinationPort?: number | undefined;
  readonly icmp?: { readonly type: number; readonly code: number } | undefined;
  /** Names of links; a packet has none that comes from the node itself, or stays on it. */
  readonly inLink?: string | undefined;
  readonly outLink?: string | undefined;
  readonly state: CtState;
  readonly isTranslated?: { readonly dnat?: boolean; readonly snat?: boolean } | undefined;
  readonly mark?: number | undefined;
  readonly ctMark?: number | undefined;
  readonly sourceType?: string | undefined;
  readonly destinationType?: string | undefined;
}

/** Marks change on the way. */
export interface Marks {
  mark: number;
  ctMark: number;
}

type Read = (packet: RulePacket, marks: Marks) => FieldValue | undefined;

const isVersion6 = (packet: RulePacket): boolean => packet.source.includes(':');

const ofFamily =
  (family: 4 | 6, read: Read): Read =>
  (packet, marks) =>
    isVersion6(packet) === (family === 6) ? read(packet, marks) : undefined;

const ofIcmp =
  (protocol: number, read: Read): Read =>
  (packet, marks) =>
    packet.protocol === protocol ? read(packet, marks) : undefined;

const readers: Readonly<Record<Field, Read>> = {
  iifname: ({ inLink = '' }) => inLink,
  oifname: ({ outLink = '' }) => outLink,
  nfproto: (packet) => (isVersion6(packet) ? 'ipv6' : 'ipv4'),
  l4proto: ({ protocol }) => protocol,
  mark: (_, { mark }) => mark,
  'ct mark': (_, { ctMark }) => ctMark,
  'ip saddr': ofFamily(4, ({ source }) => source),
  'ip daddr': ofFamily(4, ({ destination }) => destination),
  'ip6 saddr': ofFamily(6, ({ source }) => source),
  'ip6 daddr': ofFamily(6, ({ destination }) => destination),
  'th sport': ({ sourcePort, icmp }) => sourcePort ?? garbage(icmp),
  'th dport': ({ destinationPort, icmp }) => destinationPort ?? garbage(icmp),
  'icmp type': ofIcmp(protocols.icmp, ({ icmp }) => icmp?.type),
  'icmp code': ofIcmp(protocols.icmp, ({ icmp }) => icmp?.code),
  'icmpv6 type': ofIcmp(protocols['ipv6-icmp'], ({ icmp }) => icmp?.type),
  'icmpv6 code': ofIcmp(protocols['ipv6-icmp'], ({ icmp }) => icmp?.code),
  'fib saddr type': ({ sourceType = 'unicast' }) => sourceType,
  'fib daddr type': ({ destinationType = 'unicast' }) => destinationType,
};

/** The transport header is read as it is: of ICMP it gives type and code as a port. */
const garbage = (icmp: RulePacket['icmp']): number | undefined =>
  icmp === undefined ? undefined : icmp.type * 256 + icmp.code;

/** @returns undefined where the packet has no such field: then the rule does not apply */
export const readField = (field: Field, packet: RulePacket, marks: Marks): FieldValue | undefined =>
  readers[field](packet, marks);
