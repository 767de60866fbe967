/**
 * The cluster of the cases: namespaces x, y and z with pods a, b and c each, on two nodes, with both families, serving 80 and 81
 * over TCP, UDP and SCTP, with names for all of them.
 */
import type { Cluster, Pod } from '../cluster.js';

export const standardNamespaces = ['x', 'y', 'z'] as const;
const names = ['a', 'b', 'c'] as const;
const protocols = ['tcp', 'udp', 'sctp'] as const;

/** Ports of every pod: `serve-80-tcp` and so on. */
export const standardPorts: Pod['ports'] = [80, 81].flatMap((port) =>
  protocols.map((protocol) => ({ name: `serve-${port}-${protocol}`, protocol, port })),
);

export function standardCluster(): Cluster {
  const pods = standardNamespaces.flatMap((namespace, row) =>
    names.map((name, column) => makePod(namespace, name, row * names.length + column)),
  );
  return {
    objects: [],
    pods,
    namespaces: standardNamespaces.map((name) => ({ name, labels: { ns: name } })),
    nodes: [1, 2].map((number) => ({
      name: `node${number}`,
      labels: { 'kubernetes.io/hostname': `node${number}` },
      addresses: [`172.18.0.${number}`, `fd18::${number}`],
    })),
  };
}

function makePod(namespace: string, name: string, index: number): Pod {
  const node = (index % 2) + 1;
  return {
    namespace,
    name,
    labels: { pod: name },
    addresses: [`10.244.${node}.${index + 10}`, `fd44:${node}::${index + 10}`],
    node: `node${node}`,
    ports: standardPorts,
  };
}
