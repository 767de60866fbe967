/**
 * `networking.k8s.io/v1` NetworkPolicy, by its API reference. All policies that select a pod add up; a pod that one of them selects
 * for a direction is closed in it to everything that none of them allows.
 */
import type { AnyObject } from '@podwire/objects';
import type { Cluster, Pod } from '../cluster.js';
import {
  defaultTier,
  describeObject,
  type Direction,
  type GoverningPolicy,
  type GoverningRule,
  peerSide,
} from '../governing.js';
import { contains } from '../nets.js';
import { hasNamedPort, type Packet, protocolNumbers, type Side } from '../packet.js';
import { isPodSelected, type LabelSelector, matchesSelector } from '../selectors/kubernetes.js';

interface Port {
  readonly protocol?: 'TCP' | 'UDP' | 'SCTP';
  readonly port?: number | string;
  readonly endPort?: number;
}

interface Peer {
  readonly podSelector?: LabelSelector;
  readonly namespaceSelector?: LabelSelector;
  readonly ipBlock?: { readonly cidr: string; readonly except?: readonly string[] };
}

interface RuleOfPolicy {
  readonly ports?: readonly Port[];
  readonly from?: readonly Peer[];
  readonly to?: readonly Peer[];
}

export interface RawNetworkPolicy extends AnyObject {
  readonly metadata: { readonly name: string; readonly namespace: string };
  readonly spec: {
    readonly podSelector?: LabelSelector;
    readonly policyTypes?: readonly ('Ingress' | 'Egress')[];
    readonly ingress?: readonly RuleOfPolicy[];
    readonly egress?: readonly RuleOfPolicy[];
  };
}

/** @returns undefined where the policy does not select the pod, or does not govern the direction */
export function governByNetworkPolicy(
  policy: RawNetworkPolicy,
  cluster: Cluster,
  pod: Pod,
  direction: Direction,
): GoverningPolicy | undefined {
  const { metadata, spec } = policy;
  if (pod.namespace !== metadata.namespace) return undefined;
  if (!matchesSelector(spec.podSelector ?? {}, pod.labels) || !governs(spec, direction)) return undefined;
  const rules = (spec[direction] ?? []).map((rule, index) =>
    readRule(rule, index, metadata.namespace, direction),
  );
  // Rules of Kubernetes only allow, so that their order means nothing; beside Calico's policies they have this place.
  return { object: describeObject(policy), name: metadata.name, tier: defaultTier, order: 1000, rules };
}

/** Without policyTypes: ingress always, egress where there are egress rules. */
function governs({ policyTypes = [], egress = [] }: RawNetworkPolicy['spec'], direction: Direction): boolean {
  if (policyTypes.length > 0) return policyTypes.includes(direction === 'ingress' ? 'Ingress' : 'Egress');
  return direction === 'ingress' || egress.length > 0;
}

function readRule(rule: RuleOfPolicy, index: number, namespace: string, direction: Direction): GoverningRule {
  const peers = (direction === 'ingress' ? rule.from : rule.to) ?? [];
  const ports = rule.ports ?? [];
  return {
    path: `spec.${direction}[${index}]`,
    action: 'allow',
    matches: (packet) =>
      // An empty list, like an absent one, is no restriction.
      (peers.length === 0 ||
        peers.some((peer) => matchesPeer(peer, packet, peerSide(packet, direction), namespace))) &&
      (ports.length === 0 || ports.some((port) => matchesPort(port, packet))),
  };
}

function matchesPeer(peer: Peer, packet: Packet, side: Side, namespace: string): boolean {
  if (peer.ipBlock !== undefined) {
    const { cidr, except = [] } = peer.ipBlock;
    return contains(cidr, side.address) && !except.some((each) => contains(each, side.address));
  }
  if (side.pod === undefined) return false;
  const pods = peer.podSelector ?? {};
  // Without a selector of namespaces the policy's own is meant.
  return peer.namespaceSelector === undefined
    ? side.pod.namespace === namespace && matchesSelector(pods, side.pod.labels)
    : isPodSelected(packet.cluster, side.pod, peer.namespaceSelector, pods);
}

function matchesPort({ protocol = 'TCP', port, endPort }: Port, packet: Packet): boolean {
  if (protocolNumbers[protocol.toLowerCase() as 'tcp' | 'udp' | 'sctp'] !== packet.protocol) return false;
  if (port === undefined) return true;
  if (typeof port === 'string') return hasNamedPort(packet.destination, port, packet);
  const actual = packet.destination.port;
  return actual !== undefined && actual >= port && actual <= (endPort ?? port);
}
