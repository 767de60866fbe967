import type { Resource } from '@podwire/engine';
import type {} from '../resources.js';

/** Resources of the node for {@link podResources}: one table with the sets that elements go to. */
export const nodeResources: readonly Resource[] = [
  { kind: 'sysctl', in: 'host', key: 'net/ipv4/ip_forward', value: '1' },
  {
    kind: 'nft-table',
    family: 'inet',
    name: 'podwire',
    body: `
      map ports { type inet_proto . inet_service : ipv4_addr . inet_service; }
      set pools { type ipv4_addr; flags interval; }
      chain prerouting {
        type nat hook prerouting priority dstnat; policy accept;
        dnat ip to meta l4proto . th dport map @ports
      }
    `,
  },
  { kind: 'route', in: 'host', type: 'blackhole', destination: '10.9.0.0/26' },
];

/** A list with every kind of resource that an endpoint may have. `n` makes it different from others. */
export function podResources(n: number): Resource[] {
  const [link, shaper] = [`pwtest${n}`, `pwshape${n}`];
  const address = `10.9.0.${n}`;
  return [
    {
      kind: 'veth',
      host: { name: link, mac: 'ee:ee:ee:ee:ee:ee' },
      pod: { name: 'eth0', mac: `02:00:00:00:00:${n.toString(16).padStart(2, '0')}` },
      mtu: 1450,
    },
    { kind: 'ifb', name: shaper, mtu: 1450 },
    { kind: 'link-up', in: 'pod', link: 'lo' },
    { kind: 'link-up', in: 'pod', link: 'eth0' },
    { kind: 'address', in: 'pod', link: 'eth0', address: `${address}/32` },
    { kind: 'address', in: 'pod', link: 'eth0', address: `fd00:9::${n}/128` },
    { kind: 'neighbour', in: 'pod', link: 'eth0', address: '169.254.1.1', mac: 'ee:ee:ee:ee:ee:ee' },
    { kind: 'route', in: 'pod', link: 'eth0', destination: '169.254.1.1/32', scope: 'link' },
    { kind: 'route', in: 'pod', link: 'eth0', destination: '0.0.0.0/0', gateway: '169.254.1.1' },
    { kind: 'rule', in: 'pod', from: `${address}/32`, table: 100, priority: 1000 },
    { kind: 'link-feature', in: 'pod', link: 'eth0', feature: 'tx-checksumming', on: false },
    { kind: 'link-local-mode', in: 'host', link, mode: 'manual' },
    { kind: 'sysctl', in: 'host', key: `net/ipv4/conf/${link}/route_localnet`, value: '1' },
    { kind: 'link-up', in: 'host', link },
    { kind: 'address', in: 'host', link, address: 'fe80::ecee:eeff:feee:eeee/64', scope: 'link' },
    { kind: 'route', in: 'host', link, destination: `${address}/32`, scope: 'link' },
    { kind: 'route', in: 'host', link, destination: `fd00:9::${n}/128` },
    { kind: 'token-bucket', in: 'host', link, rate: 10_000_000, burst: 20_000, limit: 60_000 },
    { kind: 'token-bucket', in: 'host', link: shaper, rate: 5_000_000, burst: 20_000, limit: 60_000 },
    { kind: 'ingress-redirect', in: 'host', link, target: shaper },
    {
      kind: 'nft-element',
      family: 'inet',
      table: 'podwire',
      set: 'ports',
      key: [
        { type: 'inet_proto', value: 'udp' },
        { type: 'inet_service', value: 5000 + n },
      ],
      value: [
        { type: 'ipv4_addr', value: address },
        { type: 'inet_service', value: 53 },
      ],
    },
    {
      ...{ kind: 'nft-element', family: 'inet', table: 'podwire', set: 'pools' },
      key: [{ type: 'ipv4_interval', value: `10.${n}.0.0/16` }],
    },
    { kind: 'conntrack-reset', protocol: 'udp', family: 4, port: 5000 + n },
  ];
}

/** The element of the nth host port, which leads to this port of a pod: small, and as many as wanted. */
export const portElement = (n: number, port = n): Resource => ({
  ...{ kind: 'nft-element', family: 'inet', table: 'podwire', set: 'ports' },
  key: [
    { type: 'inet_proto', value: 'tcp' },
    { type: 'inet_service', value: 20_000 + n },
  ],
  value: [
    { type: 'ipv4_addr', value: '10.9.0.9' },
    { type: 'inet_service', value: port },
  ],
});
