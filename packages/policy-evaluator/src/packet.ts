/** The connection with everything looked up that rules ask for. */
import { familyOf } from '@podwire/addresses';
import type { Cluster, Connection, Node, Party, Pod, PortProtocol } from './cluster.js';

export interface Side {
  readonly address: string;
  /** The pod with this address, unless it has the network of its host. */
  readonly pod?: Pod | undefined;
  readonly node?: Node | undefined;
  readonly port?: number | undefined;
}

export interface Packet {
  readonly cluster: Cluster;
  readonly source: Side;
  readonly destination: Side;
  /** IP protocol number. */
  readonly protocol: number;
  readonly icmp?: { readonly type: number; readonly code: number } | undefined;
  readonly family: 4 | 6;
}

/** Numbers from IANA's list, for the names that the kinds use. */
export const protocolNumbers = { icmp: 1, tcp: 6, udp: 17, icmpv6: 58, sctp: 132, udplite: 136 } as const;

/** @returns undefined where one of the parties has no address of the family */
export function resolvePacket(cluster: Cluster, connection: Connection): Packet | undefined {
  const family = familyOfConnection(connection);
  const source = findSide(cluster, connection.from, family);
  const destination = findSide(cluster, connection.to, family);
  if (source === undefined || destination === undefined) return undefined;
  const { protocol, icmp } = connection;
  return {
    cluster,
    source: { ...source, port: connection.sourcePort },
    destination: { ...destination, port: connection.port },
    protocol: typeof protocol === 'number' ? protocol : protocolNumbers[protocol],
    icmp,
    family,
  };
}

function familyOfConnection({ from, to, family }: Connection): 4 | 6 {
  for (const party of [from, to]) if ('address' in party) return familyOf(party.address);
  return family ?? 4;
}

function findSide(cluster: Cluster, party: Party, family: 4 | 6): Side | undefined {
  const address = findAddresses(cluster, party).find((text) => familyOf(text) === family);
  if (address === undefined) return undefined;
  const pod = cluster.pods.find((each) => each.hostNetwork !== true && each.addresses.includes(address));
  const node = cluster.nodes.find((each) => each.addresses.includes(address));
  return { address, pod, node: pod === undefined ? node : undefined };
}

function findAddresses(cluster: Cluster, party: Party): readonly string[] {
  if ('address' in party) return [party.address];
  if ('node' in party) return cluster.nodes.find(({ name }) => name === party.node)?.addresses ?? [];
  const pod = cluster.pods.find(({ namespace, name }) => `${namespace}/${name}` === party.pod);
  if (pod?.hostNetwork === true) return findAddresses(cluster, { node: pod.node });
  return pod?.addresses ?? [];
}

/** True if the pod at the destination has a port of this name, with the number and the protocol of the packet. */
export function hasNamedPort(side: Side, name: string, packet: Packet): boolean {
  return (side.pod?.ports ?? []).some(
    (each) => each.name === name && each.port === side.port && numberOf(each.protocol) === packet.protocol,
  );
}

const numberOf = (protocol: PortProtocol): number => protocolNumbers[protocol];
