/** AdminNetworkPolicy and BaselineAdminNetworkPolicy (v1alpha1), ClusterNetworkPolicy (v1alpha2), by the comments of their types. */
import {
  type AdminNetworkPolicy,
  type AdminPort,
  type BaselineAdminNetworkPolicy,
  type ClusterNetworkPolicy,
  type ClusterProtocolMatch,
  type EgressPeer,
  type Origin,
  type PolicySubject,
  referenceKey,
  referenceOf,
} from '@podwire/objects';
import type { Action, Direction, Peer, PeerCondition, Policy, Rule } from '../../model/policy.js';
import { everything, selectPods, toSelector } from '../selections.js';
import { groupPorts, type PortEntry, portRange, toProtocol } from '../services.js';

type AdminKind = AdminNetworkPolicy | BaselineAdminNetworkPolicy | ClusterNetworkPolicy;

/** The rules of all three kinds; names differ. */
interface Entry {
  readonly name?: string | undefined;
  readonly action: keyof typeof actions;
  readonly from?: readonly EgressPeer[] | undefined;
  readonly to?: readonly EgressPeer[] | undefined;
  readonly ports?: readonly AdminPort[] | undefined;
  readonly protocols?: readonly ClusterProtocolMatch[] | undefined;
}

const actions: Readonly<Record<'Allow' | 'Accept' | 'Deny' | 'Pass', Action>> = {
  Allow: 'allow',
  Accept: 'allow',
  Deny: 'deny',
  Pass: 'pass',
};

/** A direction without rules is not governed: these policies have no types, and nothing happens at their end. */
export function translateAdminPolicy(policy: AdminKind, origin?: Origin): Policy {
  const reference = referenceOf(policy);
  const { subject, ingress = [], egress = [] } = policy.spec;
  return {
    id: referenceKey(reference),
    reference,
    ...(origin !== undefined && { origin }),
    ...placeOf(policy),
    subjects: toPods(subject),
    ...(ingress.length > 0 && { ingress: ingress.map((rule, index) => toRule(rule, 'ingress', index)) }),
    ...(egress.length > 0 && { egress: egress.map((rule, index) => toRule(rule, 'egress', index)) }),
  };
}

/** Both forms of the API share the tiers. The one baseline of v1alpha1 comes first of its tier. */
function placeOf(policy: AdminKind): Pick<Policy, 'tier' | 'order'> {
  if (policy.kind === 'AdminNetworkPolicy') return { tier: 'admin', order: policy.spec.priority };
  if (policy.kind === 'BaselineAdminNetworkPolicy') return { tier: 'baseline', order: 0 };
  return { tier: policy.spec.tier === 'Admin' ? 'admin' : 'baseline', order: policy.spec.priority };
}

function toRule(entry: Entry, direction: Direction, index: number): Rule {
  const peers = direction === 'ingress' ? entry.from : entry.to;
  const condition: PeerCondition[] = [{ peers: (peers ?? []).flatMap(toPeers) }];
  const ports = entry.ports?.map(toEntry) ?? entry.protocols?.map(matchToEntry);
  return {
    action: actions[entry.action],
    ...(ports !== undefined && { services: groupPorts(ports) }),
    source: direction === 'ingress' ? condition : [],
    destination: direction === 'egress' ? condition : [],
    path: `spec.${direction}[${index}]`,
    ...(entry.name !== undefined && { name: entry.name }),
  };
}

function toPeers(peer: EgressPeer): Peer[] {
  if (peer.nodes !== undefined) return [{ is: 'nodes', labels: toSelector(peer.nodes) }];
  if (peer.networks !== undefined) return peer.networks.map((cidr) => ({ is: 'net', cidr, except: [] }));
  return toPods(peer);
}

export function toPods({ namespaces, pods }: PolicySubject): ReturnType<typeof selectPods>[] {
  if (namespaces !== undefined) return [selectPods(toSelector(namespaces), everything)];
  if (pods === undefined) return [];
  return [selectPods(toSelector(pods.namespaceSelector), toSelector(pods.podSelector))];
}

/** A name is looked up among ports of every protocol. */
function toEntry({ portNumber, portRange: range, namedPort }: AdminPort): PortEntry {
  if (portNumber !== undefined)
    return { protocol: toProtocol(portNumber.protocol), range: portRange(portNumber.port) };
  if (range !== undefined)
    return { protocol: toProtocol(range.protocol), range: portRange(range.start, range.end) };
  return { protocol: undefined, name: namedPort! };
}

function matchToEntry({ tcp, udp, sctp, destinationNamedPort }: ClusterProtocolMatch): PortEntry {
  if (tcp !== undefined) return { protocol: 'tcp', range: toRange(tcp) };
  if (udp !== undefined) return { protocol: 'udp', range: toRange(udp) };
  if (sctp !== undefined) return { protocol: 'sctp', range: toRange(sctp) };
  return { protocol: undefined, name: destinationNamedPort! };
}

function toRange({ destinationPort: { number, range } }: NonNullable<ClusterProtocolMatch['tcp']>) {
  return range === undefined ? portRange(number!) : portRange(range.start, range.end);
}
