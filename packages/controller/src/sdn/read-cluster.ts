/** One look at all that a plan of OpenShift SDN depends on. */
import type { ClusterAccess } from '@podwire/cluster-ipam/operations';
import {
  type ClusterNode,
  readSdnObjects,
  type SdnCluster,
  type SdnObjects,
  type SdnSnapshot,
} from '@podwire/cluster-sdn';
import { folders, type Keys, nodeKind } from '@podwire/cluster-state';
import { type ObjectCache, objectKey } from '@podwire/objects';
import { decodeObject, type Item } from '@podwire/store';
import { readFromHostSubnet, toClusterNode } from './node-identity.js';

export interface SdnLook {
  readonly snapshot: SdnSnapshot;
  readonly cluster: SdnCluster;
}

export const clusterNetworkKey = ({ root }: Pick<Keys, 'root'>): string =>
  objectKey(root, { apiVersion: 'network.openshift.io/v1', kind: 'ClusterNetwork', name: 'default' });

export const namespacesPrefix = ({ root }: Pick<Keys, 'root'>): string =>
  objectKey(root, { apiVersion: 'v1', kind: 'Namespace', name: '' });

export const nodesPrefix = ({ root }: Pick<Keys, 'root'>): string => `${root}/${folders.nodes}`;

/**
 * Namespaces and nodes are listed in full, and after the objects: what was applied with its namespace is never taken for stale.
 * @param cache of all looks
 * @returns undefined while there is no ClusterNetwork
 * @throws PodwireError as the store does
 */
export async function readSdnCluster(
  { store, keys }: Pick<ClusterAccess, 'store' | 'keys'>,
  cache: ObjectCache,
  signal: AbortSignal,
): Promise<SdnLook | undefined> {
  const snapshot = await readSdnObjects(store, keys, signal, cache);
  const { objects } = snapshot;
  if (!hasClusterNetwork(objects)) return undefined;
  const [namespaces, nodes] = await Promise.all(
    [namespacesPrefix(keys), nodesPrefix(keys)].map((prefix) => store.list(prefix, { signal })),
  );
  return {
    snapshot,
    cluster: {
      objects,
      namespaces: namespaces!.items.map(({ key }) => key.slice(namespacesPrefix(keys).length)),
      nodes: readNodes(nodes!.items, nodesPrefix(keys), objects),
    },
  };
}

const hasClusterNetwork = ({ clusterNetwork, unreadable }: SdnObjects): boolean =>
  clusterNetwork !== undefined || unreadable.some(({ reference }) => reference.kind === 'ClusterNetwork');

function readNodes(items: readonly Item[], prefix: string, { hostSubnets }: SdnObjects): ClusterNode[] {
  const subnetOf = new Map(hostSubnets.map(({ object }) => [object.host, object]));
  return items.flatMap(
    (item) => readNode(item) ?? readFromHostSubnet(subnetOf.get(item.key.slice(prefix.length))) ?? [],
  );
}

function readNode({ key, value }: Item): ClusterNode | undefined {
  try {
    return toClusterNode(decodeObject(nodeKind, key, value));
  } catch {
    return undefined;
  }
}
