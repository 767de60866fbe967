/** The way of a connection's first packet through the nodes. */
import type { PodFact } from '@podwire/policy';
import type { Cluster, Connection, Party } from '@podwire/policy-evaluator';

export interface PacketHeaders {
  readonly source: string;
  readonly destination: string;
  /** Its number. */
  readonly protocol: number;
  readonly sourcePort?: number | undefined;
  readonly destinationPort?: number | undefined;
  readonly icmp?: { readonly type: number; readonly code: number } | undefined;
}

/** Where a packet comes from or goes to, as one node sees it: one of its own pods, itself, or something else. */
export type NodeEnd = PodFact | 'node' | 'elsewhere';

export interface Crossing {
  readonly packet: PacketHeaders;
  readonly from: NodeEnd;
  readonly to: NodeEnd;
}

interface End {
  readonly address: string;
  readonly pod?: PodFact | undefined;
  /** Name, where the end is a node itself. */
  readonly node?: string | undefined;
}

export interface Journey {
  readonly packet: PacketHeaders;
  readonly source: End;
  readonly destination: End;
}

const numbers = { tcp: 6, udp: 17, sctp: 132, icmp: 1, icmpv6: 58 } as const;

export function makeJourney(cluster: Cluster, connection: Connection): Journey {
  const family = connection.family ?? 4;
  const source = findEnd(cluster, connection.from, family);
  const destination = findEnd(cluster, connection.to, family);
  const { protocol, sourcePort, port, icmp } = connection;
  const packet = {
    source: source.address,
    destination: destination.address,
    protocol: typeof protocol === 'number' ? protocol : numbers[protocol],
    sourcePort,
    destinationPort: port,
    icmp,
  };
  return { packet, source, destination };
}

/** Pods with the node's own network are the node. */
function findEnd(cluster: Cluster, party: Party, family: 4 | 6): End {
  if ('address' in party) return { address: party.address };
  const named = cluster.pods.find(
    ({ namespace, name }) => 'pod' in party && party.pod === `${namespace}/${name}`,
  );
  const node = 'node' in party ? party.node : named?.hostNetwork === true ? named.node : undefined;
  const addresses =
    node === undefined ? named?.addresses : cluster.nodes.find(({ name }) => name === node)?.addresses;
  const address = addresses?.find((text) => text.includes(':') === (family === 6)) ?? '';
  return { address, node, ...(node === undefined && named !== undefined && { pod: named }) };
}

/** The nodes that the packet crosses, in order. */
export function listCrossings({
  packet,
  source,
  destination,
}: Journey): (Crossing & { readonly node: string })[] {
  const nodes = [placeOf(source), placeOf(destination)].filter((node) => node !== undefined);
  return [...new Set(nodes)].map((node) => ({
    node,
    packet,
    from: seenFrom(node, source),
    to: seenFrom(node, destination),
  }));
}

const placeOf = ({ pod, node }: End): string | undefined => pod?.node ?? node;

function seenFrom(node: string, end: End): NodeEnd {
  if (placeOf(end) !== node) return 'elsewhere';
  return end.pod ?? 'node';
}
