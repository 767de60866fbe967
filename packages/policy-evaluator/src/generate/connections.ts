/** Connections worth asking about: between all parties of a cluster, on a few ports, in both families. */
import type { Cluster, Connection, Party } from '../cluster.js';
import { foreignAddresses } from './vocabulary.js';

type Ports = Pick<Connection, 'protocol' | 'port' | 'sourcePort' | 'icmp'>;

const tcp80: Ports = { protocol: 'tcp', port: 80, sourcePort: 40_000 };
const withPorts: readonly Ports[] = [
  tcp80,
  { protocol: 'tcp', port: 81, sourcePort: 40_001 },
  { protocol: 'udp', port: 80, sourcePort: 40_003 },
  { protocol: 'udp', port: 81, sourcePort: 40_002 },
  { protocol: 'sctp', port: 81, sourcePort: 50_000 },
];

const echo = (family: 4 | 6): Ports =>
  family === 4
    ? { protocol: 'icmp', icmp: { type: 8, code: 0 } }
    : { protocol: 'icmpv6', icmp: { type: 128, code: 0 } };

/** Every pair of different parties, each with every port and an echo request, in both families. */
export function listConnections(cluster: Cluster): Connection[] {
  const parties: Party[] = [
    ...cluster.pods.map(({ namespace, name }) => ({ pod: `${namespace}/${name}` })),
    ...cluster.nodes.map(({ name }) => ({ node: name })),
  ];
  return ([4, 6] as const).flatMap((family) => {
    const outside: Party = { address: foreignAddresses[family === 4 ? 0 : 1] };
    const all = [...parties, outside];
    return all.flatMap((from) =>
      all
        .filter((to) => to !== from)
        .flatMap((to) => [...withPorts, echo(family)].map((ports) => ({ ...ports, from, to, family }))),
    );
  });
}
