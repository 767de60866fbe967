/** Conditions of fields on other fields; ovs-fields(7), "Prerequisites". */
import type { Masked } from './field-value.js';
import type { FieldName, Prerequisite } from './fields.js';

/** The exact or masked value of a field, as far as it is matched. */
export type Lookup = (name: FieldName) => Masked | undefined;

const IPV4 = 0x0800n;
const IPV6 = 0x86ddn;
const ARP = 0x0806n;
const RARP = 0x8035n;
const MPLS = [0x8847n, 0x8848n];

const isOneOf =
  (name: FieldName, ...values: readonly bigint[]) =>
  (of: Lookup): boolean => {
    const found = of(name);
    return found !== undefined && values.includes(found.value);
  };

const all =
  (...conditions: readonly ((of: Lookup) => boolean)[]) =>
  (of: Lookup): boolean =>
    conditions.every((isMet) => isMet(of));

const isIp = isOneOf('eth_type', IPV4, IPV6);
const isIpv4 = isOneOf('eth_type', IPV4);
const isIpv6 = isOneOf('eth_type', IPV6);

/** Only the first fragment has ports. */
const hasPorts = (of: Lookup): boolean => ((of('ip_frag')?.value ?? 0n) & 2n) === 0n;
const isProtocol = (number: bigint) => all(isIp, isOneOf('ip_proto', number), hasPorts);
const isIcmpv6 = all(isIpv6, isOneOf('ip_proto', 58n), hasPorts);

const isDiscovery = (...types: readonly bigint[]) =>
  all(isIcmpv6, isOneOf('icmpv6_type', ...types), (of) => (of('icmpv6_code')?.value ?? 0n) === 0n);

const NEW_EST_REL_RPL_NAT = 0xcfn;
const INVALID = 0x10n;
const TRACKED = 0x20n;

/** A state that only a valid connection has, or a tracked packet that is not invalid. */
const isTracked = (of: Lookup): boolean => {
  const { value, mask } = of('ct_state') ?? { value: 0n, mask: 0n };
  if ((value & NEW_EST_REL_RPL_NAT) !== 0n) return true;
  return (value & TRACKED) !== 0n && (mask & INVALID) !== 0n && (value & INVALID) === 0n;
};

const isTagged = (of: Lookup): boolean =>
  (['vlan_vid', 'vlan_tci'] as const).some((name) => ((of(name)?.value ?? 0n) & 0x1000n) !== 0n);

const conditions: Readonly<Record<Prerequisite, (of: Lookup) => boolean>> = {
  vlan: isTagged,
  ip: isIp,
  ipv4: isIpv4,
  ipv6: isIpv6,
  arp: isOneOf('eth_type', ARP, RARP),
  mpls: isOneOf('eth_type', ...MPLS),
  tcp: isProtocol(6n),
  udp: isProtocol(17n),
  sctp: isProtocol(132n),
  icmp: all(isIpv4, isOneOf('ip_proto', 1n), hasPorts),
  icmpv6: isIcmpv6,
  nd: isDiscovery(135n, 136n),
  'nd-solicit': isDiscovery(135n),
  'nd-advert': isDiscovery(136n),
  ct: isTracked,
};

/** True when the fields around a field are such that a packet has it. */
export const isAllowed = (prerequisite: Prerequisite | undefined, of: Lookup): boolean =>
  prerequisite === undefined || conditions[prerequisite](of);
