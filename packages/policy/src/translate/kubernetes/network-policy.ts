/** `networking.k8s.io/v1` NetworkPolicy, by the comments of its API types. */
import {
  type NetworkPolicy,
  type NetworkPolicyPeer,
  type NetworkPolicyPort,
  type Origin,
  referenceKey,
  referenceOf,
} from '@podwire/objects';
import type { Direction, Peer, PeerCondition, Policy, Rule } from '../../model/policy.js';
import { everything, namespaceNamed, selectPods, toSelector } from '../selections.js';
import { groupPorts, type PortEntry, portRange, toProtocol } from '../services.js';

/** As Calico has it: other policies of the tier find a place in front and behind. */
export const networkPolicyOrder = 1000;

interface Entry {
  readonly ports?: readonly NetworkPolicyPort[] | undefined;
  readonly peers?: readonly NetworkPolicyPeer[] | undefined;
}

export function translateNetworkPolicy(policy: NetworkPolicy, origin?: Origin): Policy {
  const reference = referenceOf(policy);
  const namespace = reference.namespace ?? 'default';
  const { podSelector, policyTypes, ingress = [], egress = [] } = policy.spec;
  const toRules = (direction: Direction, entries: readonly Entry[]): Rule[] =>
    entries.map((entry, index) => toRule(entry, direction, index, namespace));
  return {
    id: referenceKey(reference),
    reference,
    ...(origin !== undefined && { origin }),
    tier: 'default',
    order: networkPolicyOrder,
    subjects: [selectPods(namespaceNamed(namespace), toSelector(podSelector))],
    ...(policyTypes.includes('Ingress') && {
      ingress: toRules(
        'ingress',
        ingress.map(({ ports, from }) => ({ ports, peers: from })),
      ),
    }),
    ...(policyTypes.includes('Egress') && {
      egress: toRules(
        'egress',
        egress.map(({ ports, to }) => ({ ports, peers: to })),
      ),
    }),
  };
}

/** Absent and empty lists mean the same here: every peer, every port. */
function toRule({ ports = [], peers = [] }: Entry, direction: Direction, index: number, own: string): Rule {
  const condition: PeerCondition[] =
    peers.length === 0 ? [] : [{ peers: peers.map((peer) => toPeer(peer, own)) }];
  return {
    action: 'allow',
    ...(ports.length > 0 && { services: groupPorts(ports.map(toEntry)) }),
    source: direction === 'ingress' ? condition : [],
    destination: direction === 'egress' ? condition : [],
    path: `spec.${direction}[${index}]`,
  };
}

function toPeer({ podSelector, namespaceSelector, ipBlock }: NetworkPolicyPeer, own: string): Peer {
  if (ipBlock !== undefined) return { is: 'net', cidr: ipBlock.cidr, except: ipBlock.except ?? [] };
  return selectPods(
    namespaceSelector === undefined ? namespaceNamed(own) : toSelector(namespaceSelector),
    podSelector === undefined ? everything : toSelector(podSelector),
  );
}

function toEntry({ protocol, port, endPort }: NetworkPolicyPort): PortEntry {
  const own = { protocol: toProtocol(protocol) };
  if (port === undefined) return own;
  return typeof port === 'string' ? { ...own, name: port } : { ...own, range: portRange(port, endPort) };
}
