import type { Owned, Resource } from '@podwire/engine';

const link = 'pwtest-vx';

/** The node's end of tunnels, beginning at an address of `eth0`. */
export const tunnel: Resource & { kind: 'vxlan' } = {
  kind: 'vxlan',
  name: link,
  mac: '66:00:00:00:00:01',
  id: 4096,
  port: 4789,
  local: '192.0.2.1',
  underlay: 'eth0',
  mtu: 1450,
};

export const tunnelResources = (changes: Partial<typeof tunnel> = {}): Resource[] => [
  { ...tunnel, ...changes },
  { kind: 'link-local-mode', in: 'host', link, mode: 'manual' },
  { kind: 'link-up', in: 'host', link },
  { kind: 'address', in: 'host', link, address: '10.9.0.0/32' },
  { kind: 'address', in: 'host', link, address: 'fd00:9::/128' },
  { kind: 'route', in: 'host', type: 'blackhole', destination: '10.9.0.0/26', metric: 4096 },
];

/** Resources that lead to the nth peer: two families, one borrowed address. */
export function peerOf(n: number, remote = `192.0.2.${n}`): Owned {
  const mac = `66:00:00:00:00:${n.toString(16).padStart(2, '0')}`;
  const [gateway4, gateway6] = [`10.9.${n}.0`, `fd00:9:${n}::`];
  const route = { kind: 'route', in: 'host', link, onlink: true } as const;
  return {
    owner: `peer:node${n}`,
    resources: [
      { kind: 'forwarding-entry', in: 'host', link, mac, remote },
      { kind: 'neighbour', in: 'host', link, address: gateway4, mac },
      { kind: 'neighbour', in: 'host', link, address: gateway6, mac },
      { ...route, destination: `10.9.${n}.0/26`, gateway: gateway4 },
      { ...route, destination: `fd00:9:${n}::/122`, gateway: gateway6 },
      { ...route, destination: `10.9.0.${n}/32`, gateway: gateway4 },
      {
        kind: 'nft-element',
        family: 'inet',
        table: 'podwire',
        set: 'peers',
        key: [{ type: 'ipv4_addr', value: remote }],
      },
    ],
  };
}

export const peerTable: Resource = {
  kind: 'nft-table',
  family: 'inet',
  name: 'podwire',
  body: 'set peers { type ipv4_addr; }',
};
