/** One look at all that a plan of Kube-OVN depends on. */
import type { ClusterAccess } from '@podwire/cluster-ipam/operations';
import { type OvnClusterNode, type OvnLook, type OvnSnapshot, readOvnObjects } from '@podwire/cluster-ovn';
import { folders, type Keys, nodeKind, ovnPodKind, type OvnPodRecord } from '@podwire/cluster-state';
import { DecodeCache, type ObjectCache, objectGroupPrefix } from '@podwire/objects';
import { decodeObject, type Item, type Revision } from '@podwire/store';

export interface OvnView {
  readonly snapshot: OvnSnapshot;
  readonly look: OvnLook;
  /** Records of pods, by NAMESPACE/NAME. */
  readonly records: ReadonlyMap<string, PodRecord>;
}

export interface PodRecord {
  readonly key: string;
  readonly revision: Revision;
  readonly record: OvnPodRecord;
}

/** Shared by looks that follow each other: what has not changed is not decoded again. */
export interface LookCaches {
  readonly objects: ObjectCache;
  readonly pods: DecodeCache<ReadPod>;
}

export const createLookCaches = (): LookCaches => ({ objects: new DecodeCache(), pods: new DecodeCache() });

/** Prefixes of everything that a look reads. */
export const ovnPrefixes = ({ root }: Pick<Keys, 'root'>) => ({
  objects: objectGroupPrefix(root, { apiVersion: 'kubeovn.io/v1' }),
  nodes: `${root}/${folders.nodes}`,
  leases: `${root}/${folders.nodeLeases}`,
  pods: `${root}/${folders.ovnPods}`,
});

/**
 * Nodes and pods are listed in full.
 * @param caches of all looks
 * @throws PodwireError as the store does
 */
export async function readOvnCluster(
  { store, keys, clock }: Pick<ClusterAccess, 'store' | 'keys' | 'clock'>,
  caches: LookCaches,
  signal: AbortSignal,
): Promise<OvnView> {
  const snapshot = await readOvnObjects(store, keys, signal, caches.objects);
  const prefixes = ovnPrefixes(keys);
  const list = async (prefix: string): Promise<readonly Item[]> =>
    (await store.list(prefix, { signal })).items;
  const [nodes, leases, pods] = await Promise.all([prefixes.nodes, prefixes.leases, prefixes.pods].map(list));
  const reachable = new Set(leases!.map(({ key }) => key.slice(prefixes.leases.length)));
  const readNode = (item: Item): OvnClusterNode => {
    const name = item.key.slice(prefixes.nodes.length);
    return { name, addresses: readAddresses(item), isReachable: reachable.has(name) };
  };
  const podsRead = caches.pods.decode(pods!, (item) => readPod(item, prefixes.pods));
  const records = new Map(
    podsRead.flatMap(({ id, found }) => (found === undefined ? [] : [[id, found] as const])),
  );
  return {
    ...{ snapshot, records },
    look: {
      ...{ objects: snapshot.objects, nodes: nodes!.map(readNode), now: clock.now() },
      pods: [...records.values()].map(({ record }) => ({ ...record, hasEnded: false })),
      unreadablePods: podsRead.filter(({ found }) => found === undefined).map(({ id }) => splitId(id)),
    },
  };
}

interface ReadPod {
  readonly id: string;
  /** Absent for what cannot be read. */
  readonly found?: PodRecord;
}

function readPod({ key, value, revision }: Item, prefix: string): ReadPod {
  const id = key.slice(prefix.length);
  try {
    const record = decodeObject(ovnPodKind, key, value);
    return id === `${record.namespace}/${record.name}` ? { id, found: { key, revision, record } } : { id };
  } catch {
    return { id };
  }
}

function splitId(id: string): { readonly namespace: string; readonly name: string } {
  const slash = id.indexOf('/');
  return { namespace: id.slice(0, slash), name: id.slice(slash + 1) };
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
