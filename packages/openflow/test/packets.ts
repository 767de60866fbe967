/** Ethernet frames in hexadecimal digits, and the fields that they have. */
import type { PacketFields } from '@podwire/openflow/fake';

const ethernet = '020000000002020000000001';
const mac = { eth_dst: '02:00:00:00:00:02', eth_src: '02:00:00:00:00:01' } as const;

/** Version and length, type of service 0xb5, length, identifier, flags, time to live, protocol, checksum, addresses. */
const ipv4 = (protocol: string, flags = '0000'): string =>
  `080045b500280001${flags}40${protocol}00000a0000010a000009`;
const v4 = {
  ...{ ...mac, eth_type: 0x0800, ip_src: '10.0.0.1', ip_dst: '10.0.0.9' },
  ...{ ip_dscp: 45, ip_ecn: 1, ip_ttl: 64 },
} as const;
/** Version, class 0xb5 and label, length, next header, hop limit, addresses. */
const ipv6 = (protocol: string): string =>
  `86dd6b5123450014${protocol}40fd00000000000000000000000000000120010db8000000000000000000000009`;
const v6 = {
  ...{ ...mac, eth_type: 0x86dd, ipv6_src: 'fd00::1', ipv6_dst: '2001:db8::9' },
  ...{ ip_dscp: 45, ip_ecn: 1, ip_ttl: 64, ipv6_label: 0x12345 },
} as const;
const tcpHeader = '0fa000500000000100000002501200000000000000000000';
const tcp = { ip_proto: 6, tcp_src: 4000, tcp_dst: 80, tcp_flags: 0x12 } as const;

const list: readonly (readonly [name: string, hex: string, fields: PacketFields])[] = [
  ['TCP', ethernet + ipv4('06') + tcpHeader, { ...v4, ...tcp }],
  ['TCP over IPv6', ethernet + ipv6('06') + tcpHeader, { ...v6, ...tcp }],
  [
    'UDP behind a tag',
    `${ethernet}8100a005${ipv4('11')}0fa000350028000000`,
    { ...v4, vlan_vid: 0x1005, vlan_pcp: 5, ip_proto: 17, udp_src: 4000, udp_dst: 53 },
  ],
  ['ICMP', `${ethernet}${ipv4('01')}0800000000010001`, { ...v4, ip_proto: 1, icmp_type: 8, icmp_code: 0 }],
  [
    'a first fragment',
    `${ethernet}${ipv4('11', '2000')}0fa0003500280000`,
    { ...v4, ip_proto: 17, ip_frag: 'first', udp_src: 4000, udp_dst: 53 },
  ],
  [
    'a later fragment',
    `${ethernet}${ipv4('11', '2010')}0fa0003500280000`,
    { ...v4, ip_proto: 17, ip_frag: 'later' },
  ],
  [
    'ARP',
    `${ethernet}080600010800060400010200000000010a0000010000000000000a000009`,
    {
      ...{ ...mac, eth_type: 0x0806, arp_op: 1, arp_spa: '10.0.0.1', arp_tpa: '10.0.0.9' },
      ...{ arp_sha: '02:00:00:00:00:01', arp_tha: '00:00:00:00:00:00' },
    },
  ],
  ['another protocol', `${ethernet}88cc0000`, { ...mac, eth_type: 0x88cc }],
];

/** Filled up, since Open vSwitch reads no header whose packet is shorter than it says. */
export const packets = list.map(([name, hex, fields]) => [name, hex.padEnd(160, '0'), fields] as const);
