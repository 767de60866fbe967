/**
 * The kinds of network-policy-api, by the comments of its types: AdminNetworkPolicy and BaselineAdminNetworkPolicy of v1alpha1,
 * ClusterNetworkPolicy of v1alpha2. The first rule that matches acts; policies without rules in a direction have no say in it.
 */
import type { AnyObject } from '@podwire/objects';
import type { Cluster, Pod } from '../cluster.js';
import {
  adminTier,
  baselineTier,
  describeObject,
  type Direction,
  type GoverningPolicy,
  type GoverningRule,
  peerSide,
} from '../governing.js';
import { contains } from '../nets.js';
import { hasNamedPort, type Packet, protocolNumbers, type Side } from '../packet.js';
import { isPodSelected, type LabelSelector, matchesSelector } from '../selectors/kubernetes.js';

interface Selection {
  readonly namespaces?: LabelSelector;
  readonly pods?: { readonly namespaceSelector?: LabelSelector; readonly podSelector?: LabelSelector };
}

interface Peer extends Selection {
  readonly nodes?: LabelSelector;
  readonly networks?: readonly string[];
}

type UpperProtocol = 'TCP' | 'UDP' | 'SCTP';

/** v1alpha1 */
interface AdminPort {
  readonly portNumber?: { readonly protocol?: UpperProtocol; readonly port: number };
  readonly portRange?: { readonly protocol?: UpperProtocol; readonly start: number; readonly end: number };
  readonly namedPort?: string;
}

interface DestinationPort {
  readonly number?: number;
  readonly range?: { readonly start: number; readonly end: number };
}

/** v1alpha2 */
interface ProtocolMatch {
  readonly tcp?: { readonly destinationPort?: DestinationPort };
  readonly udp?: { readonly destinationPort?: DestinationPort };
  readonly sctp?: { readonly destinationPort?: DestinationPort };
  readonly destinationNamedPort?: string;
}

interface AdminRule {
  readonly action: 'Allow' | 'Accept' | 'Deny' | 'Pass';
  readonly from?: readonly Peer[];
  readonly to?: readonly Peer[];
  readonly ports?: readonly AdminPort[];
  readonly protocols?: readonly ProtocolMatch[];
}

export interface RawAdminPolicy extends AnyObject {
  readonly spec: {
    /** Of ClusterNetworkPolicy. */
    readonly tier?: 'Admin' | 'Baseline';
    /** The baseline policy of v1alpha1 has none: there is only one. */
    readonly priority?: number;
    readonly subject: Selection;
    readonly ingress?: readonly AdminRule[];
    readonly egress?: readonly AdminRule[];
  };
}

/** @returns undefined where the policy does not select the pod, or has no rule for the direction */
export function governByAdminPolicy(
  policy: RawAdminPolicy,
  cluster: Cluster,
  pod: Pod,
  direction: Direction,
): GoverningPolicy | undefined {
  const { spec, metadata } = policy;
  const rules = (spec[direction] ?? []).map((rule, index) => readRule(rule, index, direction));
  if (rules.length === 0 || !selects(spec.subject, cluster, pod)) return undefined;
  const isBaseline = policy.kind === 'BaselineAdminNetworkPolicy' || spec.tier === 'Baseline';
  const tier = isBaseline ? baselineTier : adminTier;
  return { object: describeObject(policy), name: metadata.name, tier, order: spec.priority ?? 0, rules };
}

function selects({ namespaces, pods }: Selection, cluster: Cluster, pod: Pod): boolean {
  if (namespaces !== undefined) return isPodSelected(cluster, pod, namespaces, {});
  if (pods !== undefined)
    return isPodSelected(cluster, pod, pods.namespaceSelector ?? {}, pods.podSelector ?? {});
  return false;
}

const actions = { Allow: 'allow', Accept: 'allow', Deny: 'deny', Pass: 'pass' } as const;

function readRule(rule: AdminRule, index: number, direction: Direction): GoverningRule {
  const peers = (direction === 'ingress' ? rule.from : rule.to) ?? [];
  return {
    path: `spec.${direction}[${index}]`,
    action: actions[rule.action],
    matches: (packet) =>
      peers.some((peer) => matchesPeer(peer, packet.cluster, peerSide(packet, direction))) &&
      (rule.ports === undefined || rule.ports.some((port) => matchesPort(port, packet))) &&
      (rule.protocols === undefined || rule.protocols.some((each) => matchesProtocol(each, packet))),
  };
}

function matchesPeer(peer: Peer, cluster: Cluster, side: Side): boolean {
  if (peer.networks !== undefined) return peer.networks.some((net) => contains(net, side.address));
  if (peer.nodes !== undefined)
    return side.node !== undefined && matchesSelector(peer.nodes, side.node.labels);
  return side.pod !== undefined && selects(peer, cluster, side.pod);
}

function matchesPort({ portNumber, portRange, namedPort }: AdminPort, packet: Packet): boolean {
  if (namedPort !== undefined) return hasNamedPort(packet.destination, namedPort, packet);
  if (portNumber !== undefined)
    return isWithin(packet, portNumber.protocol, portNumber.port, portNumber.port);
  return portRange !== undefined && isWithin(packet, portRange.protocol, portRange.start, portRange.end);
}

function matchesProtocol(match: ProtocolMatch, packet: Packet): boolean {
  if (match.destinationNamedPort !== undefined)
    return hasNamedPort(packet.destination, match.destinationNamedPort, packet);
  if (match.tcp !== undefined) return matchesDestination('TCP', match.tcp.destinationPort, packet);
  if (match.udp !== undefined) return matchesDestination('UDP', match.udp.destinationPort, packet);
  return match.sctp !== undefined && matchesDestination('SCTP', match.sctp.destinationPort, packet);
}

function matchesDestination(
  protocol: UpperProtocol,
  port: DestinationPort | undefined,
  packet: Packet,
): boolean {
  const first = port?.number ?? port?.range?.start ?? 0;
  return isWithin(packet, protocol, first, port?.number ?? port?.range?.end ?? 65_535);
}

function isWithin(packet: Packet, protocol: UpperProtocol = 'TCP', first: number, last: number): boolean {
  const { port } = packet.destination;
  if (protocolNumbers[protocol.toLowerCase() as 'tcp' | 'udp' | 'sctp'] !== packet.protocol) return false;
  return port !== undefined && port >= first && port <= last;
}
