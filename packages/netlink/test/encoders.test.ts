import { describe, expect, test } from 'vitest';
import {
  addAddressRequest,
  addFilterRequest,
  addForwardingEntryRequest,
  addNeighbourRequest,
  addProxyNeighbourRequest,
  addQdiscRequest,
  addRouteRequest,
  addRuleRequest,
  CLSACT_EGRESS_FILTERS,
  createLinkRequest,
  deleteLinkGroupRequest,
  deleteRouteRequest,
  getLinkRequest,
  lookUpRouteRequest,
  probeNeighbourRequest,
  resolveNeighbourRequest,
  type NetlinkRequest,
  renameLinkRequest,
  setLinkRequest,
} from '@podwire/netlink';
import { hex } from './hex.js';

/** Checks a request against bytes put together by hand from the kernel's headers. */
function golden(name: string, request: NetlinkRequest, type: number, flags: number, payload: string): void {
  test(name, () => {
    expect({ type: request.type, flags: request.flags }).toEqual({ type, flags });
    expect(Buffer.from(request.payload).toString('hex')).toBe(hex(payload).toString('hex'));
  });
}

const CREATE = 0x400;
const CREATE_EXCL = 0x600;

describe('links', () => {
  golden(
    'a veth whose peer is born in another namespace',
    createLinkRequest({
      kind: 'veth',
      name: 'cali0',
      index: 7,
      mtu: 1450,
      mac: 'ee:ee:ee:ee:ee:ee',
      peer: { name: 'eth0', index: 2, namespace: 21 },
    }),
    16,
    CREATE_EXCL,
    `00 00 00 00  07 00 00 00  00 00 00 00  00 00 00 00          # ifinfomsg: index 7
     0a 00 03 00  63 61 6c 69 30 00 00 00                        # IFLA_IFNAME cali0
     0a 00 01 00  ee ee ee ee ee ee 00 00                        # IFLA_ADDRESS
     08 00 04 00  aa 05 00 00                                    # IFLA_MTU 1450
     3c 00 12 80                                                 # IFLA_LINKINFO, nested
       09 00 01 00  76 65 74 68 00 00 00 00                      #   IFLA_INFO_KIND veth
       2c 00 02 80                                               #   IFLA_INFO_DATA, nested
         28 00 01 80                                             #     VETH_INFO_PEER, nested
           00 00 00 00  02 00 00 00  00 00 00 00  00 00 00 00    #       ifinfomsg: index 2
           09 00 03 00  65 74 68 30 00 00 00 00                  #       IFLA_IFNAME eth0
           08 00 1c 00  15 00 00 00                              #       IFLA_NET_NS_FD 21`,
  );
  golden(
    'a VXLAN device',
    createLinkRequest({
      kind: 'vxlan',
      name: 'v',
      id: 0x1000,
      port: 4789,
      local: '192.0.2.1',
      learning: false,
    }),
    16,
    CREATE_EXCL,
    `00 00 00 00  00 00 00 00  00 00 00 00  00 00 00 00
     06 00 03 00  76 00 00 00                  # IFLA_IFNAME v
     34 00 12 80                               # IFLA_LINKINFO, nested
       0a 00 01 00  76 78 6c 61 6e 00 00 00    #   IFLA_INFO_KIND vxlan
       24 00 02 80                             #   IFLA_INFO_DATA, nested
         08 00 01 00  00 10 00 00              #     IFLA_VXLAN_ID
         06 00 0f 00  12 b5 00 00              #     IFLA_VXLAN_PORT, big-endian
         08 00 04 00  c0 00 02 01              #     IFLA_VXLAN_LOCAL
         05 00 07 00  00 00 00 00              #     IFLA_VXLAN_LEARNING`,
  );
  golden(
    'link-local mode and per-device IPv4 parameters',
    setLinkRequest(3, { up: true, addressGenerationMode: 'none', inetSettings: { proxy_arp: 1 } }),
    19,
    0,
    `00 00 00 00  03 00 00 00  01 00 00 00  01 00 00 00   # ifinfomsg: index 3, IFF_UP of IFF_UP
     20 00 1a 80                                          # IFLA_AF_SPEC, nested
       10 00 02 80                                        #   AF_INET, nested
         0c 00 01 80                                      #     IFLA_INET_CONF, nested
           08 00 03 00  01 00 00 00                       #       IPV4_DEVCONF_PROXY_ARP 1
       0c 00 0a 80                                        #   AF_INET6, nested
         05 00 08 00  01 00 00 00                         #     IFLA_INET6_ADDR_GEN_MODE none`,
  );
  golden(
    'a link down, by name, into a group',
    setLinkRequest('cali0', { up: false, group: 4242 }),
    19,
    0,
    `00 00 00 00  00 00 00 00  00 00 00 00  01 00 00 00
     0a 00 03 00  63 61 6c 69 30 00 00 00
     08 00 1b 00  92 10 00 00`,
  );
  golden('a new name', renameLinkRequest(3, 'b'), 19, 0, `${ifinfo('03')} 06 00 03 00  62 00 00 00`);
  golden('a group deleted', deleteLinkGroupRequest(4242), 17, 0, `${ifinfo('00')} 08 00 1b 00  92 10 00 00`);
  golden(
    'one link',
    getLinkRequest(3),
    18,
    0,
    `${ifinfo('03')} 08 00 1d 00  08 00 00 00 # IFLA_EXT_MASK: no counters`,
  );
  golden('one link with counters', getLinkRequest(3, { statistics: true }), 18, 0, ifinfo('03'));
});

function ifinfo(index: string): string {
  return `00 00 00 00  ${index} 00 00 00  00 00 00 00  00 00 00 00 `;
}

describe('addresses', () => {
  golden(
    'IPv4',
    addAddressRequest({ link: 2, address: '10.1.2.3/24', broadcast: '10.1.2.255', scope: 'link' }),
    20,
    CREATE_EXCL,
    `02 18 00 fd  02 00 00 00     # AF_INET, /24, scope link; link 2
     08 00 02 00  0a 01 02 03     # IFA_LOCAL
     08 00 01 00  0a 01 02 03     # IFA_ADDRESS
     08 00 04 00  0a 01 02 ff     # IFA_BROADCAST`,
  );
  golden(
    'IPv6 without duplicate address detection',
    addAddressRequest({ link: 2, address: '2001:db8::1/128', flags: ['noDad', 'noPrefixRoute'] }),
    20,
    CREATE_EXCL,
    `0a 80 00 00  02 00 00 00
     14 00 02 00  20 01 0d b8 00 00 00 00 00 00 00 00 00 00 00 01
     14 00 01 00  20 01 0d b8 00 00 00 00 00 00 00 00 00 00 00 01
     08 00 08 00  02 02 00 00     # IFA_FLAGS: IFA_F_NODAD, IFA_F_NOPREFIXROUTE`,
  );
});

describe('routes', () => {
  golden(
    'to a link',
    addRouteRequest({ destination: '169.254.1.1/32', link: 2 }),
    24,
    CREATE_EXCL,
    `02 20 00 00  fe 04 fd 01  00 00 00 00   # AF_INET, /32; main, static, scope link, unicast
     08 00 01 00  a9 fe 01 01                # RTA_DST
     08 00 04 00  02 00 00 00                # RTA_OIF`,
  );
  golden(
    'a default route with everything',
    addRouteRequest({
      destination: '0.0.0.0/0',
      gateway: '169.254.1.1',
      link: 2,
      onlink: true,
      table: 1000,
      metric: 9,
      mtu: 1400,
      protocol: 80,
    }),
    24,
    CREATE_EXCL,
    `02 00 00 00  00 50 00 01  04 00 00 00   # table in RTA_TABLE, protocol 80; RTNH_F_ONLINK
     08 00 0f 00  e8 03 00 00                # RTA_TABLE
     08 00 04 00  02 00 00 00                # RTA_OIF
     08 00 05 00  a9 fe 01 01                # RTA_GATEWAY
     08 00 06 00  09 00 00 00                # RTA_PRIORITY
     0c 00 08 80  08 00 02 00  78 05 00 00   # RTA_METRICS, nested: RTAX_MTU 1400`,
  );
  golden(
    'through a gateway of the other family',
    addRouteRequest({ destination: '10.0.0.0/8', gateway: 'fe80::1', link: 2 }),
    24,
    CREATE_EXCL,
    `02 08 00 00  fe 04 00 01  00 00 00 00
     08 00 01 00  0a 00 00 00
     08 00 04 00  02 00 00 00
     16 00 12 00  0a 00 fe 80 00 00 00 00 00 00 00 00 00 00 00 00 00 01 00 00   # RTA_VIA: AF_INET6, address`,
  );
  golden(
    'several ways',
    addRouteRequest({
      destination: '10.0.0.0/8',
      nextHops: [{ gateway: '192.0.2.1' }, { gateway: '192.0.2.2', link: 3, weight: 5, onlink: true }],
    }),
    24,
    CREATE_EXCL,
    `02 08 00 00  fe 04 00 01  00 00 00 00
     08 00 01 00  0a 00 00 00
     24 00 09 00                                          # RTA_MULTIPATH
       10 00 00 00  00 00 00 00  08 00 05 00  c0 00 02 01
       10 00 04 04  03 00 00 00  08 00 05 00  c0 00 02 02`,
  );
  golden(
    'a blackhole',
    addRouteRequest({ destination: '2001:db8::/122', type: 'blackhole' }),
    24,
    CREATE_EXCL,
    `0a 7a 00 00  fe 04 00 06  00 00 00 00
     14 00 01 00  20 01 0d b8 00 00 00 00 00 00 00 00 00 00 00 00`,
  );
  golden(
    'one deleted, whatever its type, protocol and scope',
    deleteRouteRequest({ destination: '10.0.0.0/8' }),
    25,
    0,
    `02 08 00 00  fe 00 ff 00  00 00 00 00
     08 00 01 00  0a 00 00 00`,
  );
  golden(
    'one looked up',
    lookUpRouteRequest('10.0.0.1', { source: '10.0.0.2', mark: 3 }),
    26,
    0,
    `02 20 20 00  00 00 00 00  00 10 00 00   # RTM_F_LOOKUP_TABLE
     08 00 01 00  0a 00 00 01
     08 00 02 00  0a 00 00 02
     08 00 10 00  03 00 00 00`,
  );
});

describe('rules', () => {
  golden(
    'by source and mark',
    addRuleRequest({ family: 4, priority: 100, from: '10.0.0.0/8', mark: 0x10, markMask: 0xf0, table: 1000 }),
    32,
    CREATE_EXCL,
    `02 00 08 00  00 00 00 01  00 00 00 00   # AF_INET, source /8; table in FRA_TABLE, FR_ACT_TO_TBL
     08 00 06 00  64 00 00 00                # FRA_PRIORITY
     08 00 0f 00  e8 03 00 00                # FRA_TABLE
     08 00 02 00  0a 00 00 00                # FRA_SRC
     08 00 0a 00  10 00 00 00                # FRA_FWMARK
     08 00 10 00  f0 00 00 00                # FRA_FWMASK`,
  );
});

describe('neighbours', () => {
  golden(
    'a permanent one',
    addNeighbourRequest({ link: 2, address: '169.254.1.1', mac: 'ee:ee:ee:ee:ee:ee' }),
    28,
    CREATE_EXCL,
    `02 00 00 00  02 00 00 00  80 00 00 00   # AF_INET; link 2; NUD_PERMANENT
     08 00 01 00  a9 fe 01 01                # NDA_DST
     0a 00 02 00  ee ee ee ee ee ee 00 00    # NDA_LLADDR`,
  );
  golden(
    'one to resolve',
    resolveNeighbourRequest({ link: 2, address: '169.254.1.1' }),
    28,
    CREATE,
    `02 00 00 00  02 00 00 00  00 00 01 00   # NUD_NONE; NTF_USE
     08 00 01 00  a9 fe 01 01`,
  );
  golden(
    'one to probe',
    probeNeighbourRequest({ link: 2, address: '169.254.1.1' }),
    28,
    0,
    `02 00 00 00  02 00 00 00  10 00 00 00   # NUD_PROBE
     08 00 01 00  a9 fe 01 01`,
  );
  golden(
    'a proxy',
    addProxyNeighbourRequest({ link: 2, address: '169.254.1.1' }),
    28,
    CREATE_EXCL,
    `02 00 00 00  02 00 00 00  80 00 08 00   # NTF_PROXY
     08 00 01 00  a9 fe 01 01`,
  );
  golden(
    'a forwarding entry',
    addForwardingEntryRequest({
      link: 5,
      table: 'self',
      mac: '02:00:00:00:00:11',
      remote: '192.0.2.7',
      port: 4789,
      vni: 9,
    }),
    28,
    CREATE_EXCL,
    `07 00 00 00  05 00 00 00  80 00 02 00   # AF_BRIDGE; NTF_SELF
     0a 00 02 00  02 00 00 00 00 11 00 00    # NDA_LLADDR
     08 00 01 00  c0 00 02 07                # NDA_DST
     06 00 06 00  12 b5 00 00                # NDA_PORT, big-endian
     08 00 07 00  09 00 00 00                # NDA_VNI`,
  );
});

describe('traffic control', () => {
  golden(
    'a token bucket of 1 Mbit/s',
    addQdiscRequest({ link: 10, kind: 'tbf', rate: 1_000_000, burst: 20_000, limit: 30_000 }),
    36,
    CREATE_EXCL,
    `00 00 00 00  0a 00 00 00  00 00 00 00  ff ff ff ff  00 00 00 00   # tcmsg: link 10, root
     08 00 01 00  74 62 66 00                                          # TCA_KIND tbf
     34 00 02 80                                                       # TCA_OPTIONS, nested
       28 00 01 00                                                     #   TCA_TBF_PARMS
         00 01 00 00  00 00 00 00  48 e8 01 00                         #     rate: Ethernet, 125000 B/s
         00 00 00 00  00 00 00 00  00 00 00 00                         #     no peak rate
         30 75 00 00                                                   #     limit
         a0 25 26 00                                                   #     buffer: 160 ms in ticks of 64 ns
         00 00 00 00                                                   #     mtu
       08 00 06 00  20 4e 00 00                                        #   TCA_TBF_BURST`,
  );
  golden(
    'a token bucket of 80 Gbit/s',
    addQdiscRequest({ link: 10, kind: 'tbf', rate: 80_000_000_000, burst: 1_000_000, limit: 2_000_000 }),
    36,
    CREATE_EXCL,
    `00 00 00 00  0a 00 00 00  00 00 00 00  ff ff ff ff  00 00 00 00
     08 00 01 00  74 62 66 00
     40 00 02 80
       28 00 01 00
         00 01 00 00  00 00 00 00  ff ff ff ff                         #     rate: see TCA_TBF_RATE64
         00 00 00 00  00 00 00 00  00 00 00 00
         80 84 1e 00
         1a 06 00 00                                                   #     buffer: 100 us in ticks of 64 ns
         00 00 00 00
       0c 00 04 00  00 e4 0b 54 02 00 00 00                            #   TCA_TBF_RATE64: 10^10 B/s
       08 00 06 00  40 42 0f 00                                        #   TCA_TBF_BURST`,
  );
  golden(
    'an ingress hook',
    addQdiscRequest({ link: 10, kind: 'ingress' }),
    36,
    CREATE_EXCL,
    `00 00 00 00  0a 00 00 00  00 00 ff ff  f1 ff ff ff  00 00 00 00
     0c 00 01 00  69 6e 67 72 65 73 73 00`,
  );
  golden(
    'a filter that redirects everything',
    addFilterRequest({ link: 10, priority: 1, action: { kind: 'mirred', target: 11, direction: 'egress' } }),
    44,
    CREATE_EXCL,
    `00 00 00 00  0a 00 00 00  00 00 00 00  00 00 ff ff  00 03 01 00   # tcmsg: at ffff:, priority 1, ETH_P_ALL
     08 00 01 00  75 33 32 00                                          # TCA_KIND u32
     50 00 02 80                                                       # TCA_OPTIONS, nested
       14 00 05 00                                                     #   TCA_U32_SEL: terminal, no keys
         01 00 00 00  00 00 00 00  00 00 00 00  00 00 00 00
       38 00 07 80                                                     #   TCA_U32_ACT, nested
         34 00 01 80                                                   #     the first action, nested
           0b 00 01 00  6d 69 72 72 65 64 00 00                        #       TCA_ACT_KIND mirred
           24 00 02 80                                                 #       TCA_ACT_OPTIONS, nested
             20 00 02 00                                               #         TCA_MIRRED_PARMS
               00 00 00 00  00 00 00 00  04 00 00 00                   #           TC_ACT_STOLEN
               00 00 00 00  00 00 00 00  01 00 00 00  0b 00 00 00      #           TCA_EGRESS_REDIR, link 11`,
  );
  golden(
    'a filter for one destination',
    addFilterRequest({
      link: 10,
      parent: CLSACT_EGRESS_FILTERS,
      priority: 2,
      protocol: 0x0800,
      classId: 0x10010,
      keys: [{ value: 0x0a000001, mask: 0xffffff00, offset: 16 }],
    }),
    44,
    CREATE_EXCL,
    `00 00 00 00  0a 00 00 00  00 00 00 00  f3 ff ff ff  08 00 02 00
     08 00 01 00  75 33 32 00
     30 00 02 80
       08 00 01 00  10 00 01 00                                        #   TCA_U32_CLASSID 1:10
       24 00 05 00
         01 00 01 00  00 00 00 00  00 00 00 00  00 00 00 00            #   one key
         ff ff ff 00  0a 00 00 01  10 00 00 00  00 00 00 00            #   mask, value (big-endian), offset 16`,
  );
});

describe('values that do not fit', () => {
  const refused: [string, () => unknown][] = [
    ['a name with a NUL', () => createLinkRequest({ kind: 'ifb', name: 'a\0b' })],
    ['a link-layer address that is none', () => setLinkRequest(1, { mac: '02:0' })],
    ['an MTU beyond 32 bits', () => setLinkRequest(1, { mtu: 2 ** 32 })],
    ['a VXLAN id beyond 24 bits', () => createLinkRequest({ kind: 'vxlan', id: 2 ** 24 })],
    ['a parameter that no device has', () => setLinkRequest(1, { inetSettings: { nope: 1 } as object })],
    ['an address without a length', () => addAddressRequest({ link: 1, address: '10.0.0.1' })],
    [
      'a destination with bits beyond its length',
      () => addRouteRequest({ destination: '10.0.0.1/24', link: 1 }),
    ],
    ['a gateway that is no address', () => addRouteRequest({ destination: '10.0.0.0/24', gateway: 'gw' })],
    [
      'a weight of 0',
      () => addRouteRequest({ destination: '10.0.0.0/8', nextHops: [{ link: 1, weight: 0 }] }),
    ],
    ['a rule for both families', () => addRuleRequest({ family: 6, priority: 1, from: '10.0.0.0/8' })],
    ['no rate', () => addQdiscRequest({ link: 1, kind: 'tbf', rate: 7, burst: 1, limit: 1 })],
    [
      'a rate that is no number',
      () => addQdiscRequest({ link: 1, kind: 'tbf', rate: NaN, burst: 1, limit: 1 }),
    ],
    ['a burst of years', () => addQdiscRequest({ link: 1, kind: 'tbf', rate: 8, burst: 4e9, limit: 1 })],
    ['a priority beyond 16 bits', () => addFilterRequest({ link: 1, priority: 65536 })],
  ];
  test.each(refused)('%s is a RangeError', (_name, build) => {
    expect(build).toThrow(RangeError);
  });
});
