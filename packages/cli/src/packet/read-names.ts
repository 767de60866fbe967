/** Asks for the names of the cluster: its store, or where none is named the agent of this node. */
import { folders, podFactsKind } from '@podwire/cluster-state';
import type { LocalApi } from '@podwire/local-api';
import { createStoreSource, type HostSubnet, type NetNamespace, requireKind } from '@podwire/objects';
import { systemClock } from '@podwire/platform';
import { decodeObject, type Store } from '@podwire/store';
import type { Command } from 'commander';
import { openLocatedApi } from '../api/locate.js';
import type { EndpointView, PeersView, StatusView } from '../api/shapes.js';
import { withInterrupt } from '../interrupt.js';
import type { Io } from '../io.js';
import { withObjects } from '../objects/place.js';
import type { ClusterNames, PodPlace } from './names.js';

/** @throws PodwireError AGENT_UNREACHABLE, CONFIG_INVALID, STORE_UNAVAILABLE; InterruptedError */
export async function readNames(command: Command, io: Io): Promise<ClusterNames> {
  const stored = await withObjects(command, io, async ({ cluster }, signal) =>
    cluster === undefined ? undefined : readStoreNames(cluster.store, cluster.root, signal),
  );
  if (stored !== undefined) return stored;
  return withInterrupt(async (signal) => readAgentNames(await openLocatedApi(command, io, { signal })));
}

/** @throws PodwireError STORE_… */
export async function readStoreNames(store: Store, root: string, signal: AbortSignal): Promise<ClusterNames> {
  const source = createStoreSource({ store, root, clock: systemClock });
  const kinds = ['netnamespaces', 'hostsubnets'].map(requireKind);
  const [pods, { objects }] = await Promise.all([
    listPods(store, root, signal),
    source.list({ kinds, signal }),
  ]);
  const all = objects.map(({ object }) => object as unknown as NetNamespace | HostSubnet);
  return {
    source: 'the store',
    pods,
    nodes: all.flatMap((each) => ('hostIP' in each ? [{ name: each.host, address: each.hostIP }] : [])),
    projects: all.flatMap((each) => ('netid' in each ? [{ name: each.netname, vnid: each.netid }] : [])),
  };
}

/** Agents say there which pods they have. */
async function listPods(store: Store, root: string, signal: AbortSignal): Promise<PodPlace[]> {
  const { items } = await store.list(`${root}/${folders.podFacts}`, { signal });
  return items.map(({ key, value }) => {
    const { namespace, name, node, addresses } = decodeObject(podFactsKind, key, value);
    return { name: `${namespace}/${name}`, node, addresses };
  });
}

/** Without VNIDs, and the pods of this node alone. */
export async function readAgentNames(api: LocalApi): Promise<ClusterNames> {
  const [{ node, cluster }, { endpoints }] = await Promise.all([
    api.get<StatusView>('/v1/status'),
    api.get<{ endpoints: readonly EndpointView[] }>('/v1/endpoints'),
  ]);
  const { peers } = cluster == null ? { peers: [] } : await api.get<PeersView>('/v1/peers');
  const underlay = (cluster?.underlay ?? {}) as { readonly ipv4?: string };
  const nodes = [{ name: node, ipv4: underlay.ipv4 }, ...peers];
  return {
    source: `the agent of node ${node}`,
    pods: endpoints.flatMap(({ pod: { namespace = 'default', name }, addresses }) =>
      name === undefined ? [] : [{ name: `${namespace}/${name}`, node, addresses }],
    ),
    nodes: nodes.flatMap(({ name, ipv4 }) =>
      ipv4 === undefined ? [] : [{ name, address: ipv4.replace(/\/.*/, '') }],
    ),
    projects: [],
  };
}
