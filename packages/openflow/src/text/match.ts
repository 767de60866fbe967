/** Matches as in ovs-fields(7): `tcp,nw_src=10.0.0.0/8,tp_dst=80`. */
import { canonicalMatch } from '../codec/match.js';
import { parseFieldValue } from '../field-value.js';
import { fields, type FieldName } from '../fields.js';
import type { Match } from '../match.js';
import { findFieldName, formatValue, matchName } from './names.js';
import { parseCount, quote, splitKey, splitOutside } from './split.js';

interface Kind {
  readonly eth_type: number;
  readonly ip_proto?: number;
}

/** Words that select a kind of packet. */
const kinds: Readonly<Record<string, Kind>> = {
  tcp: { eth_type: 0x0800, ip_proto: 6 },
  udp: { eth_type: 0x0800, ip_proto: 17 },
  sctp: { eth_type: 0x0800, ip_proto: 132 },
  icmp: { eth_type: 0x0800, ip_proto: 1 },
  tcp6: { eth_type: 0x86dd, ip_proto: 6 },
  udp6: { eth_type: 0x86dd, ip_proto: 17 },
  sctp6: { eth_type: 0x86dd, ip_proto: 132 },
  icmp6: { eth_type: 0x86dd, ip_proto: 58 },
  ip: { eth_type: 0x0800 },
  ipv6: { eth_type: 0x86dd },
  arp: { eth_type: 0x0806 },
  rarp: { eth_type: 0x8035 },
  mpls: { eth_type: 0x8847 },
  mplsm: { eth_type: 0x8848 },
};
/** Other spellings, which are not written. */
const moreKinds = new Map(Object.entries({ ...kinds, ip6: kinds['ipv6']!, icmpv6: kinds['icmp6']! }));

type Mutable = { -readonly [Key in keyof Match]: Match[Key] };

const ports: Readonly<Record<number, string>> = { 6: 'tcp', 17: 'udp', 132: 'sctp' };

/** A field whose name depends on the packet, as in OpenFlow 1.0: `nw_src` of ARP, `tp_dst` of UDP. */
function findByKind(key: string, { eth_type: etherType, ip_proto: protocol }: Match): FieldName | undefined {
  const isArp = etherType === 0x0806 || etherType === 0x8035;
  const isIcmpv6 = etherType === 0x86dd && protocol === 58;
  switch (key) {
    case 'nw_src':
      return isArp ? 'arp_spa' : 'ip_src';
    case 'nw_dst':
      return isArp ? 'arp_tpa' : 'ip_dst';
    case 'nw_proto':
      return isArp ? 'arp_op' : 'ip_proto';
    case 'icmp_type':
    case 'icmp_code':
      return isIcmpv6 ? (key.replace('icmp', 'icmpv6') as FieldName) : key;
    case 'tp_src':
    case 'tp_dst': {
      const name = ports[Number(protocol)];
      return name === undefined ? undefined : (key.replace('tp', name) as FieldName);
    }
    default:
      return findFieldName(key);
  }
}

const VID_AND_PRESENT = 0x1fffn;

/** The whole tag, which OpenFlow 1.4 knows as an identifier and a priority. */
function parseTag(text: string): Match {
  const { value, mask } = parseFieldValue('vlan_tci', text);
  const priority = mask >> 13n;
  if (priority !== 0n && priority !== 7n) throw new RangeError(`a part of a priority: ${quote(text)}`);
  const low = mask & VID_AND_PRESENT;
  return {
    ...(low === 0n ? {} : { vlan_vid: `${value & VID_AND_PRESENT}/${low}` }),
    ...(priority === 0n ? {} : { vlan_pcp: Number(value >> 13n) }),
  };
}

/** An identifier alone, or 0xffff for packets without a tag. */
function parseVlan(text: string): Match {
  const id = parseCount(text, 0xffff);
  return { vlan_vid: id === 0xffff ? 0 : 0x1000 | id };
}

function parseTerm(term: string, sofar: Match): Match {
  const [key, value] = splitKey(term, '=');
  if (value === undefined) {
    const kind = moreKinds.get(key);
    if (kind === undefined) throw new RangeError(`there is no kind of packets ${quote(key)}`);
    return kind;
  }
  if (key === 'vlan_tci') return parseTag(value);
  if (key === 'dl_vlan') return parseVlan(value);
  if (key === 'raw') return { raw: [...(sofar.raw ?? []), value] };
  if (key === 'nw_tos') return { ip_dscp: parseCount(value, 255) >> 2 };
  const name = findByKind(key, sofar);
  if (name === undefined) throw new RangeError(`there is no field ${quote(key)} in such a packet`);
  return { [name]: value };
}

/** Reads the terms of a match. @throws RangeError naming what is wrong */
export function parseTerms(terms: readonly string[]): Match {
  const match: Mutable = {};
  for (const term of terms) Object.assign(match, parseTerm(term, match));
  return canonicalMatch(match);
}

/** Reads a match, with fields behind those that select their kind of packet. @throws RangeError */
export const parseMatch = (text: string): Match => parseTerms(splitOutside(text, ', \t'));

const findKind = ({ eth_type, ip_proto }: Match): readonly [string, Kind] | undefined =>
  Object.entries(kinds).find(
    ([, kind]) => kind.eth_type === eth_type && (kind.ip_proto === undefined || kind.ip_proto === ip_proto),
  );

/**
 * Writes a match in an order in which every field follows those that it needs; empty when it matches everything. A field
 * that this library does not know becomes `raw=` and its bytes, which `parseMatch` reads and ovs-ofctl does not.
 */
export function formatMatch(match: Match): string {
  const kind = findKind(match);
  const written = new Set(Object.keys(kind?.[1] ?? {}));
  const terms = fields.flatMap(({ name }) => {
    const value = match[name];
    if (name === 'eth_type' && kind !== undefined) return [kind[0]];
    if (value === undefined || written.has(name)) return [];
    return [`${matchName(name)}=${formatValue(name, value)}`];
  });
  return [...terms, ...(match.raw ?? []).map((field) => `raw=${field}`)].join(',');
}
