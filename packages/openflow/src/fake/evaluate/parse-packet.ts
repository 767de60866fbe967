/** The fields of a packet in bytes: Ethernet with tags, ARP, IPv4, IPv6, TCP, UDP, SCTP, ICMP. */
import { Reader } from '../../codec/bytes.js';
import { DecodeError } from '../../errors.js';
import { formatFieldValue, type FieldValue } from '../../field-value.js';
import { fieldOf, type FieldName } from '../../fields.js';
import type { PacketFields } from './packet.js';

type Fields = { [Name in FieldName]?: FieldValue };

const VLAN_TYPES = [0x8100, 0x88a8];
const PRESENT = 0x1000;

/** Reads fields that follow each other. */
function read(reader: Reader, ...names: readonly FieldName[]): Fields {
  const fields: Fields = {};
  for (const name of names) {
    const { bytes, valid } = fieldOf(name);
    fields[name] = formatFieldValue(name, { value: reader.big(bytes), mask: valid });
  }
  return fields;
}

/** Only the outer tag is a field. */
function readTags(reader: Reader): Fields {
  let type = reader.u16();
  const tags: number[] = [];
  while (VLAN_TYPES.includes(type)) {
    tags.push(reader.u16());
    type = reader.u16();
  }
  const [tag] = tags;
  if (tags.length > 1) throw new DecodeError('a packet with two tags', 'OFPBRC_BAD_PACKET');
  if (tag === undefined) return { eth_type: type };
  return { vlan_vid: (tag & 0xfff) | PRESENT, vlan_pcp: tag >> 13, eth_type: type };
}

function readArp(reader: Reader): Fields {
  return read(reader.skip(6), 'arp_op', 'arp_sha', 'arp_spa', 'arp_tha', 'arp_tpa');
}

const service = (octet: number): Fields => ({ ip_dscp: octet >> 2, ip_ecn: octet & 3 });

function readFragment(bits: number): Fields {
  const isLater = (bits & 0x1fff) !== 0;
  if (isLater) return { ip_frag: 'later' };
  return bits & 0x2000 ? { ip_frag: 'first' } : {};
}

function readIpv4(reader: Reader): Fields {
  const [lengths, tos] = [reader.u8(), reader.u8()];
  const fragment = readFragment(reader.skip(4).u16());
  const [ttl, protocol] = [reader.u8(), reader.u8()];
  const addresses = read(reader.skip(2), 'ip_src', 'ip_dst');
  reader.skip(4 * (lengths & 15) - 20);
  return { ...addresses, ...service(tos), ip_ttl: ttl, ip_proto: protocol, ...fragment };
}

function readIpv6(reader: Reader): Fields {
  const first = reader.u32();
  const [protocol, ttl] = [reader.skip(2).u8(), reader.u8()];
  const addresses = read(reader, 'ipv6_src', 'ipv6_dst');
  return {
    ...addresses,
    ...service((first >>> 20) & 0xff),
    ipv6_label: first & 0xfffff,
    ip_ttl: ttl,
    ip_proto: protocol,
  };
}

function readTcp(reader: Reader): Fields {
  const ports = read(reader, 'tcp_src', 'tcp_dst');
  return { ...ports, tcp_flags: reader.skip(8).u16() & 0xfff };
}

/** Ports and the like; a later fragment has nothing of it. */
function readTransport(
  reader: Reader,
  { eth_type: etherType, ip_proto: protocol, ip_frag: fragment }: Fields,
): Fields {
  if (fragment === 'later') return {};
  const isIpv6 = etherType === 0x86dd;
  switch (protocol) {
    case 6:
      return readTcp(reader);
    case 17:
      return read(reader, 'udp_src', 'udp_dst');
    case 132:
      return read(reader, 'sctp_src', 'sctp_dst');
    case 1:
      return isIpv6 ? {} : read(reader, 'icmp_type', 'icmp_code');
    case 58:
      return isIpv6 ? read(reader, 'icmpv6_type', 'icmpv6_code') : {};
    default:
      return {};
  }
}

function readNetwork(reader: Reader, etherType: FieldValue | undefined): Fields {
  switch (etherType) {
    case 0x0806:
      return readArp(reader);
    case 0x0800:
      return readIpv4(reader);
    case 0x86dd:
      return readIpv6(reader);
    default:
      return {};
  }
}

/**
 * Reads the fields of an Ethernet frame. IPv6 extension headers are no part of it.
 * @throws DecodeError `OFPBRC_BAD_LEN` when it is cut, `OFPBRC_BAD_PACKET` with two tags
 */
export function parsePacket(bytes: Uint8Array): PacketFields {
  const reader = new Reader(bytes);
  const addresses = read(reader, 'eth_dst', 'eth_src');
  const tags = readTags(reader);
  const network = readNetwork(reader, tags.eth_type);
  const fields = { ...addresses, ...tags, ...network };
  return { ...fields, ...readTransport(reader, fields) };
}
