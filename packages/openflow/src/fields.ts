/**
 * Every match field in one table: name, width, how it is written, its OXM or NXM header, whether it takes a mask, what
 * must be matched with it, whether actions may write it. ovs-fields(7); OpenFlow 1.4.0, 7.2.3.7.
 */

export type FieldFormat =
  'decimal' | 'hex' | 'ipv4' | 'ipv6' | 'mac' | 'port' | 'ct-state' | 'tcp-flags' | 'fragment';

/** A condition on other fields of the match; `nd` is a solicitation or an advertisement. */
export type Prerequisite =
  | 'vlan'
  | 'ip'
  | 'ipv4'
  | 'ipv6'
  | 'arp'
  | 'mpls'
  | 'tcp'
  | 'udp'
  | 'sctp'
  | 'icmp'
  | 'icmpv6'
  | 'nd'
  | 'nd-solicit'
  | 'nd-advert'
  | 'ct';

interface Row {
  readonly name: string;
  readonly bits: number;
  readonly format: FieldFormat;
  /** Class and number; the first is the one that is sent. */
  readonly codes: readonly (readonly [oxmClass: number, field: number])[];
  readonly maskable: boolean;
  readonly writable: boolean;
  readonly requires?: Prerequisite;
}

const OXM = 0x8000;
const REGISTERS = 0x8001;
const NXM_OF = 0x0000;
const NXM_NX = 0x0001;

type Code = readonly [number, number];
const oxm = (field: number): Code => [OXM, field];
const nx = (field: number): Code => [NXM_NX, field];
const nxmOf = (field: number): Code => [NXM_OF, field];

type Use = 'rw' | 'r' | 'rw/' | 'r/';

/** `use`: `w` for fields that actions may write, `/` for fields that take a mask. */
function row<N extends string>(
  name: N,
  bits: number,
  format: FieldFormat,
  use: Use,
  codes: readonly Code[],
  requires?: Prerequisite,
): Row & { readonly name: N } {
  const common = { name, bits, format, codes, maskable: use.endsWith('/'), writable: use.startsWith('rw') };
  return requires === undefined ? common : { ...common, requires };
}

const registerNames = [...Array(16).keys()].map((index) => `reg${index}` as RegisterName);
const wideNames = [...Array(8).keys()].map((index) => `xreg${index}` as WideRegisterName);
const widestNames = [...Array(4).keys()].map((index) => `xxreg${index}` as WidestRegisterName);

type Digit = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7;
export type RegisterName = `reg${Digit | 8 | 9 | 10 | 11 | 12 | 13 | 14 | 15}`;
export type WideRegisterName = `xreg${Digit}`;
export type WidestRegisterName = `xxreg${0 | 1 | 2 | 3}`;

/** In an order in which every field stands behind what it requires, as the wire demands. */
const rows = [
  row('in_port', 32, 'port', 'r', [oxm(0)]),
  // As a target of actions only: the port number of OpenFlow 1.0.
  row('in_port_nxm', 16, 'port', 'rw', [nxmOf(0)]),
  row('actset_output', 32, 'port', 'r', [oxm(43)]),
  row('metadata', 64, 'hex', 'rw/', [oxm(2)]),
  row('tun_id', 64, 'hex', 'rw/', [oxm(38), nx(16)]),
  row('tun_src', 32, 'ipv4', 'rw/', [nx(31)]),
  row('tun_dst', 32, 'ipv4', 'rw/', [nx(32)]),
  row('tun_ipv6_src', 128, 'ipv6', 'rw/', [nx(109)]),
  row('tun_ipv6_dst', 128, 'ipv6', 'rw/', [nx(110)]),
  row('tun_gbp_id', 16, 'decimal', 'rw/', [nx(38)]),
  row('tun_gbp_flags', 8, 'hex', 'rw/', [nx(39)]),
  row('tun_flags', 16, 'hex', 'rw/', [nx(104)]),
  row('pkt_mark', 32, 'hex', 'rw/', [nx(33)]),
  row('dp_hash', 32, 'hex', 'r/', [nx(35)]),
  row('recirc_id', 32, 'decimal', 'r', [nx(36)]),
  row('conj_id', 32, 'decimal', 'r', [nx(37)]),
  row('eth_dst', 48, 'mac', 'rw/', [oxm(3), nxmOf(1)]),
  row('eth_src', 48, 'mac', 'rw/', [oxm(4), nxmOf(2)]),
  row('eth_type', 16, 'hex', 'r', [oxm(5), nxmOf(3)]),
  row('vlan_vid', 16, 'hex', 'rw/', [oxm(6)]),
  row('vlan_tci', 16, 'hex', 'rw/', [nxmOf(4)]),
  row('vlan_pcp', 8, 'decimal', 'rw', [oxm(7)], 'vlan'),
  row('mpls_label', 32, 'decimal', 'rw', [oxm(34)], 'mpls'),
  row('mpls_tc', 8, 'decimal', 'rw', [oxm(35)], 'mpls'),
  row('mpls_bos', 8, 'decimal', 'r', [oxm(36)], 'mpls'),
  row('ip_proto', 8, 'decimal', 'r', [oxm(10), nxmOf(6)], 'ip'),
  row('ip_dscp', 8, 'decimal', 'rw', [oxm(8)], 'ip'),
  // The whole byte of type of service with a zero ECN, as NXM counts it.
  row('nw_tos', 8, 'decimal', 'rw', [nxmOf(5)], 'ip'),
  row('ip_ecn', 8, 'decimal', 'rw', [oxm(9), nx(28)], 'ip'),
  row('ip_ttl', 8, 'decimal', 'rw', [nx(29)], 'ip'),
  row('ip_frag', 8, 'fragment', 'r/', [nx(26)], 'ip'),
  row('ip_src', 32, 'ipv4', 'rw/', [oxm(11), nxmOf(7)], 'ipv4'),
  row('ip_dst', 32, 'ipv4', 'rw/', [oxm(12), nxmOf(8)], 'ipv4'),
  row('ipv6_src', 128, 'ipv6', 'rw/', [oxm(26), nx(19)], 'ipv6'),
  row('ipv6_dst', 128, 'ipv6', 'rw/', [oxm(27), nx(20)], 'ipv6'),
  row('ipv6_label', 32, 'hex', 'rw/', [oxm(28), nx(27)], 'ipv6'),
  row('arp_op', 16, 'decimal', 'rw', [oxm(21), nxmOf(15)], 'arp'),
  row('arp_spa', 32, 'ipv4', 'rw/', [oxm(22), nxmOf(16)], 'arp'),
  row('arp_tpa', 32, 'ipv4', 'rw/', [oxm(23), nxmOf(17)], 'arp'),
  row('arp_sha', 48, 'mac', 'rw/', [oxm(24), nx(17)], 'arp'),
  row('arp_tha', 48, 'mac', 'rw/', [oxm(25), nx(18)], 'arp'),
  row('tcp_src', 16, 'decimal', 'rw/', [oxm(13), nxmOf(9)], 'tcp'),
  row('tcp_dst', 16, 'decimal', 'rw/', [oxm(14), nxmOf(10)], 'tcp'),
  row('tcp_flags', 16, 'tcp-flags', 'r/', [nx(34), oxm(42)], 'tcp'),
  row('udp_src', 16, 'decimal', 'rw/', [oxm(15), nxmOf(11)], 'udp'),
  row('udp_dst', 16, 'decimal', 'rw/', [oxm(16), nxmOf(12)], 'udp'),
  row('sctp_src', 16, 'decimal', 'rw/', [oxm(17)], 'sctp'),
  row('sctp_dst', 16, 'decimal', 'rw/', [oxm(18)], 'sctp'),
  row('icmp_type', 8, 'decimal', 'rw', [oxm(19), nxmOf(13)], 'icmp'),
  row('icmp_code', 8, 'decimal', 'rw', [oxm(20), nxmOf(14)], 'icmp'),
  row('icmpv6_type', 8, 'decimal', 'rw', [oxm(29), nx(21)], 'icmpv6'),
  row('icmpv6_code', 8, 'decimal', 'rw', [oxm(30), nx(22)], 'icmpv6'),
  row('nd_target', 128, 'ipv6', 'rw/', [oxm(31), nx(23)], 'nd'),
  row('nd_sll', 48, 'mac', 'rw/', [oxm(32), nx(24)], 'nd-solicit'),
  row('nd_tll', 48, 'mac', 'rw/', [oxm(33), nx(25)], 'nd-advert'),
  ...registerNames.map((name, index) => row(name, 32, 'hex', 'rw/', [nx(index)])),
  ...wideNames.map((name, index) => row(name, 64, 'hex', 'rw/', [[REGISTERS, index]])),
  ...widestNames.map((name, index) => row(name, 128, 'hex', 'rw/', [nx(111 + index)])),
  row('ct_state', 32, 'ct-state', 'r/', [nx(105)]),
  row('ct_zone', 16, 'decimal', 'r', [nx(106)]),
  row('ct_mark', 32, 'hex', 'rw/', [nx(107)]),
  row('ct_label', 128, 'hex', 'rw/', [nx(108)]),
  row('ct_nw_proto', 8, 'decimal', 'r', [nx(119)], 'ct'),
  row('ct_nw_src', 32, 'ipv4', 'r/', [nx(120)], 'ct'),
  row('ct_nw_dst', 32, 'ipv4', 'r/', [nx(121)], 'ct'),
  row('ct_ipv6_src', 128, 'ipv6', 'r/', [nx(122)], 'ct'),
  row('ct_ipv6_dst', 128, 'ipv6', 'r/', [nx(123)], 'ct'),
  row('ct_tp_src', 16, 'decimal', 'r/', [nx(124)], 'ct'),
  row('ct_tp_dst', 16, 'decimal', 'r/', [nx(125)], 'ct'),
] as const;

/** Names of match fields, as in ovs-fields(7). */
export type FieldName = (typeof rows)[number]['name'];

/** One field of the table. */
export interface Field {
  readonly name: FieldName;
  /** Width on the wire, in bits and in bytes. */
  readonly bits: number;
  readonly bytes: number;
  /** Bits that a value may have; the others of the wire must be zero. */
  readonly valid: bigint;
  readonly format: FieldFormat;
  readonly maskable: boolean;
  readonly writable: boolean;
  readonly requires?: Prerequisite;
  /** Its place in the table, and on the wire. */
  readonly order: number;
  /** The 32-bit header without the mask bit. */
  readonly header: number;
}

/** Fields of which not all bits of the wire are in use; Open vSwitch keeps eight of the operation of ARP. */
const usedBits: Partial<Record<FieldName, number>> = {
  ...{ vlan_vid: 13, vlan_pcp: 3, ip_dscp: 6, ip_ecn: 2, ip_frag: 2, ipv6_label: 20, tcp_flags: 12 },
  ...{ mpls_label: 20, mpls_tc: 3, mpls_bos: 1, ct_state: 8, tun_flags: 1, arp_op: 8 },
};

/** Bits that parts of a field lie in. The bit that says that there is a tag is none of them; ovs-fields(7), "vlan_vid". */
export const widthOf = ({ name, bits }: Field): number =>
  name === 'vlan_vid' ? 12 : (usedBits[name] ?? bits);

const headerOf = ([oxmClass, number]: Code, bytes: number): number =>
  ((oxmClass << 16) | (number << 9) | bytes) >>> 0;

function toField({ codes, ...plain }: (typeof rows)[number], order: number): Field {
  const bytes = plain.bits / 8;
  const used = usedBits[plain.name] ?? plain.bits;
  return { ...plain, bytes, order, valid: (1n << BigInt(used)) - 1n, header: headerOf(codes[0]!, bytes) };
}

/** The whole table, in the order of the wire. */
export const fields: readonly Field[] = rows.map(toField);

const byName = new Map<string, Field>(fields.map((field) => [field.name, field]));
const byHeader = new Map<number, Field>(
  rows.flatMap(({ codes, bits }, order) => codes.map((code) => [headerOf(code, bits / 8), fields[order]!])),
);

/** A field by its name. */
export const fieldOf = (name: FieldName): Field => byName.get(name)!;
/** A field by a text that may be its name. */
export const findField = (name: string): Field | undefined => byName.get(name);
/** A field by its OXM or NXM header without the mask bit; the length in the header is that of the value. */
export const findFieldByHeader = (header: number): Field | undefined => byHeader.get(header);
