import type { Endpoint, NodeView, PortMapping } from '@podwire/network-contract';

export const mapping = (changes: Partial<PortMapping> = {}): PortMapping => ({
  hostPort: 8080,
  containerPort: 80,
  protocol: 'tcp',
  ...changes,
});

export const dualStack = [
  { address: '10.244.0.2', pool: 'ipv4' },
  { address: 'fd00:244::2', pool: 'ipv6' },
];

export const endpoint = (changes: Partial<Endpoint> = {}): Endpoint => ({
  id: { containerId: 'c1', ifName: 'eth0', network: 'default' },
  pod: { namespace: 'default', name: 'web' },
  leases: dualStack,
  mac: '02:00:00:00:00:02',
  portMappings: [],
  ...changes,
});

export const nodeOf = (
  name: string,
  ...pools: readonly (readonly [cidr: string, nat: boolean])[]
): NodeView => ({
  name: 'node1',
  network: {
    name,
    model: 'routed',
    pools: pools.map(([cidr, natOutgoing]) => ({ name: cidr, cidr, natOutgoing })),
  },
  blocks: [],
  mtu: 1450,
  ipv4: true,
  ipv6: true,
});
