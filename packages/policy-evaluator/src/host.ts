/**
 * A node's own traffic, where a HostEndpoint of Calico stands for it. Only normal policy: what is looked at before routing, or on
 * its way through the node, is no connection between two parties. The node and its own pods are not parted by it.
 */
import type { Cluster, Why } from './cluster.js';
import { decideByTiers, explain, findActing } from './decide-side.js';
import type { Direction } from './governing.js';
import { findProfile, governHost, isGlobalPolicy } from './kinds/calico.js';
import { type HostEndpoint, isHostEndpoint } from './kinds/calico-entity.js';
import { contains } from './nets.js';
import { type Packet, protocolNumbers, type Side } from './packet.js';

/** Ports that keep a node and its cluster alive (Felix's defaults). */
const failsafes = {
  ingress: { tcp: [22, 179, 2379, 2380, 5473, 6443, 6666, 6667], udp: [68] },
  egress: { tcp: [179, 2379, 2380, 5473, 6443, 6666, 6667], udp: [53, 67] },
} as const;

export function decideForHost(packet: Packet, side: Side, direction: Direction): Why {
  const host = findHostEndpoint(packet, side, direction);
  if (host === undefined) return { verdict: 'allow', reason: 'unprotected' };
  if (isFailsafe(packet, direction)) return { verdict: 'allow', reason: 'failsafe' };
  return decideByHostEndpoint(packet, host, direction);
}

/** The decision of policy and profiles on the endpoint, without failsafe ports. Without any, it is closed. */
export function decideByHostEndpoint(packet: Packet, host: HostEndpoint, direction: Direction): Why {
  const { cluster } = packet;
  const governing = cluster.objects
    .filter(isGlobalPolicy)
    .flatMap((each) => governHost(each, cluster, host, direction) ?? []);
  return decideByTiers(governing, packet) ?? decideByProfiles(packet, host, direction);
}

function findHostEndpoint(packet: Packet, side: Side, direction: Direction): HostEndpoint | undefined {
  const { node } = side;
  const other = direction === 'egress' ? packet.destination : packet.source;
  if (node === undefined || other.pod?.node === node.name || other.node?.name === node.name) return undefined;
  const own = hostEndpoints(packet.cluster).filter(({ spec }) => spec.node === node.name);
  const named = own.find(({ spec }) => (spec.expectedIPs ?? []).some((each) => contains(each, side.address)));
  return named ?? own.find(({ spec }) => spec.interfaceName === '*');
}

const hostEndpoints = (cluster: Cluster): readonly HostEndpoint[] => cluster.objects.filter(isHostEndpoint);

function isFailsafe({ protocol, destination: { port } }: Packet, direction: Direction): boolean {
  if (port === undefined) return false;
  const { tcp, udp } = failsafes[direction];
  if (protocol === protocolNumbers.tcp) return (tcp as readonly number[]).includes(port);
  return protocol === protocolNumbers.udp && (udp as readonly number[]).includes(port);
}

function decideByProfiles(packet: Packet, host: HostEndpoint, direction: Direction): Why {
  const profiles = (host.spec.profiles ?? []).flatMap(
    (name) => findProfile(packet.cluster, name, direction) ?? [],
  );
  for (const { object, rules } of profiles) {
    const rule = findActing(rules, packet);
    if (rule !== undefined) return explain(rule, object, undefined);
  }
  return { verdict: 'deny', reason: 'end-of-profiles', object: profiles.at(-1)?.object };
}
