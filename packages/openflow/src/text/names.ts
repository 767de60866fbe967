/** Names of fields in the texts of ovs-ofctl(8), old and new. */
import { findField, fieldOf, type FieldName } from '../fields.js';
import type { FieldValue } from '../field-value.js';
import { spanOf, subfieldOf, type Subfield } from '../subfield.js';
import { parseCount, quote } from './split.js';

/** Names of matches that mean one field whatever else is matched. */
const aliases = new Map<string, FieldName>(
  Object.entries({
    dl_src: 'eth_src',
    dl_dst: 'eth_dst',
    dl_type: 'eth_type',
    dl_vlan_pcp: 'vlan_pcp',
    nw_ecn: 'ip_ecn',
    nw_ttl: 'ip_ttl',
    nw_frag: 'ip_frag',
    tunnel_id: 'tun_id',
    in_port_oxm: 'in_port',
  }),
);

/** Names of OXM and NXM behind their prefix, where they are not those of the table in capitals. */
const wireNames = new Map<string, FieldName>(
  Object.entries({
    IN_PORT: 'in_port_nxm',
    TUNNEL_ID: 'tun_id',
    TUN_IPV4_SRC: 'tun_src',
    TUN_IPV4_DST: 'tun_dst',
    IP_TOS: 'nw_tos',
    IPV4_SRC: 'ip_src',
    IPV4_DST: 'ip_dst',
    ICMPV4_TYPE: 'icmp_type',
    ICMPV4_CODE: 'icmp_code',
    IPV6_FLABEL: 'ipv6_label',
    IPV6_ND_TARGET: 'nd_target',
    IPV6_ND_SLL: 'nd_sll',
    IPV6_ND_TLL: 'nd_tll',
  }),
);

function findWireName(text: string): FieldName | undefined {
  const [, prefix, name] = /^(OXM_OF|NXM_OF|NXM_NX)_(\w+)$/.exec(text) ?? [];
  if (name === undefined) return undefined;
  if (prefix === 'OXM_OF' && name === 'IN_PORT') return 'in_port';
  const register = /^PKT_REG(\d)$/.exec(name);
  const plain = register === null ? name.toLowerCase() : `xreg${register[1]}`;
  return wireNames.get(name) ?? findField(plain)?.name;
}

/** A field by a name that any text uses for it. */
export const findFieldName = (text: string): FieldName | undefined =>
  aliases.get(text) ?? findField(text)?.name ?? findWireName(text);

/** Among actions `in_port` has 16 bits, since it is older than the other. */
const findActionField = (text: string): FieldName | undefined =>
  text === 'in_port' ? 'in_port_nxm' : findFieldName(text);

const actionNames: { readonly [Name in FieldName]?: string } = {
  in_port_nxm: 'in_port',
  in_port: 'in_port_oxm',
  ip_ttl: 'nw_ttl',
};

/** The name of a field in matches, and in actions. */
export const matchName = (name: FieldName): string => (name === 'ip_ttl' ? 'nw_ttl' : name);
export const actionName = (name: FieldName): string => actionNames[name] ?? name;

export function parseActionField(text: string): FieldName {
  const name = findActionField(text);
  if (name === undefined) throw new RangeError(`there is no field ${quote(text)}`);
  return name;
}

/** `reg0[0..15]`, `NXM_NX_REG0[3]`, `reg0[]`, `reg0`. @throws RangeError */
export function parseSubfield(text: string): Subfield {
  const [, name, , first, last] = /^(\w+)(\[(?:(\d+)(?:\.\.(\d+))?)?\])?$/.exec(text) ?? [];
  if (name === undefined) throw new RangeError(`not a part of a field: ${quote(text)}`);
  const field = parseActionField(name);
  if (first === undefined) return { field };
  const start = parseCount(first, 127);
  const part = { field, start, bits: parseCount(last ?? first, 127) - start + 1 };
  const span = spanOf(part);
  return subfieldOf(field, span.start, span.bits);
}

export function formatSubfield(part: Subfield): string {
  const { start, bits } = spanOf(part);
  const isWhole = subfieldOf(part.field, start, bits).bits === undefined;
  const range = isWhole ? '' : bits === 1 ? String(start) : `${start}..${start + bits - 1}`;
  return `${actionName(part.field)}[${range}]`;
}

/** A value as text: numbers of fields that are written in hexadecimal digits are so. */
export function formatValue(name: FieldName, value: FieldValue): string {
  if (typeof value === 'string') return value;
  return fieldOf(name).format === 'hex' ? `0x${value.toString(16)}` : String(value);
}
