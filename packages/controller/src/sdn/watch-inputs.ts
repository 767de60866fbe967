/** Notices changes that a plan of OpenShift SDN may depend on. */
import type { ClusterAccess } from '@podwire/cluster-ipam/operations';
import type { WatchBatch } from '@podwire/store';
import { clusterNetworkKey, namespacesPrefix, nodesPrefix } from './read-cluster.js';

type Access = Pick<ClusterAccess, 'store' | 'keys'>;

/**
 * Until the signal aborts. A cluster without a ClusterNetwork costs one watch of its key.
 * @param onChange called after each change while there is a ClusterNetwork, once it is there, and once it is gone
 * @throws PodwireError when a watch ends for good: STORE_DENIED
 */
export async function watchSdnInputs(
  access: Access,
  onChange: () => void,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    await waitForNetwork(access, signal);
    await watchAll(access, onChange, signal);
  }
}

async function waitForNetwork({ store, keys }: Access, signal: AbortSignal): Promise<void> {
  const key = clusterNetworkKey(keys);
  for await (const batch of store.watch(key, { signal })) if (findPresence(batch, key) === true) return;
}

/** Until the ClusterNetwork is gone. The watches of nodes log interruptions; these recover by themselves as those do. */
async function watchAll({ store, keys }: Access, onChange: () => void, signal: AbortSignal): Promise<void> {
  const over = new AbortController();
  const either = AbortSignal.any([signal, over.signal]);
  const network = clusterNetworkKey(keys);
  const follow = async (prefix: string): Promise<void> => {
    for await (const batch of store.watch(prefix, { signal: either })) {
      onChange();
      if (network.startsWith(prefix) && findPresence(batch, network) === false) return;
    }
  };
  const group = network.slice(0, network.indexOf('ClusterNetwork/'));
  const tasks = [group, namespacesPrefix(keys), nodesPrefix(keys)].map(follow);
  try {
    await Promise.race(tasks);
  } finally {
    over.abort();
    await Promise.allSettled(tasks);
  }
}

/** True when the key is there after the batch, false when it is not; undefined when the batch says nothing about it. */
function findPresence(batch: WatchBatch, key: string): boolean | undefined {
  if (batch.type === 'snapshot') return batch.items.some((item) => item.key === key);
  const last = batch.changes.findLast(
    (change) => (change.type === 'put' ? change.item.key : change.key) === key,
  );
  return last === undefined ? undefined : last.type === 'put';
}
