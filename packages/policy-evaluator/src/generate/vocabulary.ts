/** Words of generated policies: labels, ports and addresses that the cluster has, and a few that it has not. */
import { formatPrefix, parsePrefix } from '@podwire/addresses';
import fc from 'fast-check';
import type { Cluster, Labels, Pod } from '../cluster.js';

export interface LabelVocabulary {
  readonly keys: readonly string[];
  readonly values: (key: string) => readonly string[];
}

export interface Vocabulary {
  readonly podLabels: LabelVocabulary;
  /** With the labels that Calico adds. */
  readonly endpointLabels: LabelVocabulary;
  readonly namespaceLabels: LabelVocabulary;
  readonly nodeLabels: LabelVocabulary;
  readonly namespaces: readonly string[];
  readonly addresses: readonly string[];
  readonly portNames: readonly string[];
  readonly portNumbers: readonly number[];
  readonly serviceAccounts: readonly string[];
  readonly services: readonly { readonly namespace: string; readonly name: string }[];
}

/** An address that is outside of every cluster. */
export const foreignAddresses = ['203.0.113.7', '2001:db8:7::7'] as const;

export function makeVocabulary(cluster: Cluster): Vocabulary {
  const { pods, namespaces = [], nodes, services = [] } = cluster;
  const ports = pods.flatMap((pod) => pod.ports);
  const nameOfNamespace = pods.map(({ namespace }) => ({ 'kubernetes.io/metadata.name': namespace }));
  return {
    podLabels: collectLabels(pods.map(({ labels }) => labels)),
    endpointLabels: collectLabels([...pods.map(({ labels }) => labels), ...pods.map(addedLabels)]),
    namespaceLabels: collectLabels([...namespaces.map(({ labels }) => labels), ...nameOfNamespace]),
    nodeLabels: collectLabels(nodes.map(({ labels }) => labels)),
    namespaces: distinct(pods.map(({ namespace }) => namespace)),
    addresses: [...distinct([...pods, ...nodes].flatMap((each) => each.addresses)), ...foreignAddresses],
    portNames: [...distinct(ports.map(({ name }) => name)), 'nothing'],
    portNumbers: [...distinct(ports.map(({ port }) => port)), 7],
    serviceAccounts: [...distinct(pods.flatMap(({ serviceAccount }) => serviceAccount ?? [])), 'none'],
    services: services.map(({ namespace, name }) => ({ namespace, name })),
  };
}

const addedLabels = ({ namespace, serviceAccount }: Pod): Labels => ({
  'projectcalico.org/namespace': namespace,
  'projectcalico.org/orchestrator': 'k8s',
  ...(serviceAccount !== undefined && { 'projectcalico.org/serviceaccount': serviceAccount }),
});

const distinct = <T>(list: readonly T[]): T[] => [...new Set(list)];

function collectLabels(all: readonly Labels[]): LabelVocabulary {
  const entries = all.flatMap((labels) => Object.entries(labels));
  return {
    keys: [...distinct(entries.map(([key]) => key)), 'missing'],
    values: (key) => [
      ...distinct(entries.flatMap(([each, value]) => (each === key ? [value] : []))),
      'other',
    ],
  };
}

/** Prefixes around addresses of the cluster, of many lengths. */
export function arbitraryNet({ addresses }: Vocabulary, family?: 4 | 6): fc.Arbitrary<string> {
  const candidates = addresses.filter(
    (text) => family === undefined || text.includes(':') === (family === 6),
  );
  return fc
    .tuple(fc.constantFrom(...candidates), fc.constantFrom(0, 4, 6, 8, 16, 32))
    .map(([address, free]) => cut(address, free));
}

/** The prefix around the address without the last bits: `free` of IPv4's, four times as many of IPv6's. */
function cut(address: string, free: number): string {
  const length = address.includes(':') ? 128 - free * 4 : 32 - free;
  return formatPrefix(parsePrefix(`${address}/${length}`, { loose: true }));
}

/** A smaller prefix within, around one of the cluster's addresses; undefined where none lies in it. */
export function arbitraryPart(vocabulary: Vocabulary, net: string): fc.Arbitrary<string> | undefined {
  const { length } = parsePrefix(net);
  const within = (part: string): boolean => {
    const prefix = parsePrefix(part);
    return prefix.length > length && cutTo(part, length) === net;
  };
  const parts = vocabulary.addresses
    .filter((text) => text.includes(':') === net.includes(':'))
    .flatMap((text) => [0, 4, 8].map((free) => cut(text, free)))
    .filter(within);
  return parts.length === 0 ? undefined : fc.constantFrom(...distinct(parts));
}

const cutTo = (net: string, length: number): string =>
  formatPrefix(parsePrefix(`${net.slice(0, net.indexOf('/'))}/${length}`, { loose: true }));
