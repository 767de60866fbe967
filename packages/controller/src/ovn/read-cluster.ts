/** One look at all that a plan of Kube-OVN depends on. */
import type { ClusterAccess } from '@podwire/cluster-ipam/operations';
import { type OvnClusterNode, type OvnLook, type OvnSnapshot, readOvnObjects } from '@podwire/cluster-ovn';
import { folders, type Keys, nodeKind } from '@podwire/cluster-state';
import { type ObjectDecoder, objectGroupPrefix } from '@podwire/objects';
import { decodeObject, type Item } from '@podwire/store';

export interface OvnView {
  readonly snapshot: OvnSnapshot;
  readonly look: OvnLook;
}

/** Prefixes of everything that a look reads. */
export const ovnPrefixes = ({ root }: Pick<Keys, 'root'>) => ({
  objects: objectGroupPrefix(root, { apiVersion: 'kubeovn.io/v1' }),
  nodes: `${root}/${folders.nodes}`,
  leases: `${root}/${folders.nodeLeases}`,
});

/**
 * Nodes are listed in full.
 * @param decoder of all looks
 * @throws PodwireError as the store does
 */
export async function readOvnCluster(
  { store, keys }: Pick<ClusterAccess, 'store' | 'keys'>,
  decoder: ObjectDecoder,
  signal: AbortSignal,
): Promise<OvnView> {
  const snapshot = await readOvnObjects(store, keys, signal, decoder);
  const prefixes = ovnPrefixes(keys);
  const list = async (prefix: string): Promise<readonly Item[]> =>
    (await store.list(prefix, { signal })).items;
  const [nodes, leases] = await Promise.all([list(prefixes.nodes), list(prefixes.leases)]);
  const reachable = new Set(leases.map(({ key }) => key.slice(prefixes.leases.length)));
  const read = (item: Item): OvnClusterNode => {
    const name = item.key.slice(prefixes.nodes.length);
    return { name, addresses: readAddresses(item), isReachable: reachable.has(name) };
  };
  return { snapshot, look: { objects: snapshot.objects, nodes: nodes.map(read) } };
}

/** A node that cannot be read is there all the same, and keeps its end of the subnet `join`. */
function readAddresses({ key, value }: Item): string[] {
  try {
    const { ipv4, ipv6 } = decodeObject(nodeKind, key, value).addresses;
    return [ipv4, ipv6].flatMap((text) => (text === undefined ? [] : text.split('/')[0]!));
  } catch {
    return [];
  }
}
