/** This node, as its pods see it: who can be asked here, and whom they should reach elsewhere. */
import { familyOf } from '@podwire/addresses';
import type { LocalApi } from '@podwire/local-api';
import {
  type Addresses,
  type ConnectivityReport,
  openTestbedNamespace,
  type Participant,
  probeConnectivity,
  type ProbeOptions,
  type Station,
} from '@podwire/testbed';
import type { AllocationRecord } from '@podwire/cluster-state';
import type { EndpointView, PeersView, StatusView } from '../api/shapes.js';

/** Of a large cluster: other nodes that are asked, and pods of each of them. */
const most = { peers: 32, pods: 2 } as const;

export interface OwnNode {
  readonly stations: readonly Station[];
  readonly remotes: readonly Participant[];
  /** Other nodes that there are. */
  readonly peers: number;
}

/** @param allocationRecords who has which address in the cluster; none where no store is named */
export async function lookAround(
  api: LocalApi,
  allocationRecords: readonly AllocationRecord[],
): Promise<OwnNode> {
  const [status, { endpoints }] = await Promise.all([
    api.get<StatusView>('/v1/status'),
    api.get<{ endpoints: readonly EndpointView[] }>('/v1/endpoints'),
  ]);
  const { peers } = status.cluster == null ? { peers: [] } : await api.get<PeersView>('/v1/peers');
  const asked = peers.toSorted((a, b) => (a.name < b.name ? -1 : 1)).slice(0, most.peers);
  return {
    stations: [
      ...endpoints.filter(({ phase }) => phase === 'ready').map((each) => podStation(status.node, each)),
      nodeStation(status),
    ],
    remotes: [
      ...asked.flatMap(({ name }) => remotePods(name, allocationRecords)),
      ...asked.map(({ name, ipv4, ipv6 }): Participant => {
        return { name, kind: 'node', node: name, addresses: addressesOf([ipv4, ipv6]), remote: true };
      }),
    ],
    peers: peers.length,
  };
}

export async function probeOwnNode(
  { stations, remotes }: OwnNode,
  options: ProbeOptions,
): Promise<ConnectivityReport> {
  try {
    return await probeConnectivity(stations, [], { ...options, remotes });
  } finally {
    for (const { namespace } of stations) namespace.release();
  }
}

const podStation = (node: string, { pod, key, addresses, netns, ifName }: EndpointView): Station => ({
  name: pod.name === undefined ? key : `${pod.namespace ?? 'default'}/${pod.name}`,
  ...{ kind: 'pod', node, addresses: addressesOf(addresses), link: ifName },
  namespace: openTestbedNamespace(netns),
});

/** Where this command runs is where the agent does. */
function nodeStation({ node, cluster }: StatusView): Station {
  const underlay = (cluster?.underlay ?? {}) as { readonly ipv4?: string; readonly ipv6?: string };
  const addresses = addressesOf([underlay.ipv4, underlay.ipv6]);
  return { name: node, kind: 'node', node, addresses, namespace: openTestbedNamespace('/proc/self/ns/net') };
}

function remotePods(node: string, allocationRecords: readonly AllocationRecord[]): Participant[] {
  const entries = allocationRecords.filter((each) => each.node === node).flatMap((each) => each.entries);
  const pods = new Map<string, string[]>();
  for (const { pod, address } of entries)
    if (pod !== undefined) pods.set(pod, [...(pods.get(pod) ?? []), address]);
  return [...pods].slice(0, most.pods).map(([name, addresses]): Participant => {
    return { name, kind: 'pod', node, addresses: addressesOf(addresses), remote: true };
  });
}

function addressesOf(texts: readonly (string | undefined)[]): Addresses {
  const known = texts.filter((text) => text !== undefined).map((text) => text.replace(/\/.*/, ''));
  return Object.fromEntries(known.map((text) => [familyOf(text), text]));
}

/** Omissions, in words. */
export function describeLimits({ peers, remotes }: OwnNode, hasStore: boolean): string[] {
  if (peers === 0) return ['There are no other nodes.'];
  return [
    ...(peers > most.peers ? [`${most.peers} of ${peers} other nodes were asked.`] : []),
    ...(hasStore
      ? []
      : [
          'Pods of other nodes were not asked: name the store that knows them (--store, or --config of the agent).',
        ]),
    ...(hasStore && remotes.every(({ kind }) => kind === 'node') ? ['The other nodes have no pods.'] : []),
  ];
}
