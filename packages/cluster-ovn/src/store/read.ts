/** One look at the objects of Kube-OVN in a store. */
import type { Keys } from '@podwire/cluster-state';
import { type GroupLook, type ObjectCache, ofKind, readGroup } from '@podwire/objects';
import type { Store } from '@podwire/store';
import type { OvnObjects } from '../cluster/contract.js';

export interface OvnSnapshot extends Pick<GroupLook, 'generation'> {
  readonly objects: OvnObjects;
}

/**
 * @param cache of the look before: what has not changed is not decoded again
 * @throws PodwireError STORE_UNAVAILABLE, STORE_DENIED
 */
export async function readOvnObjects(
  store: Pick<Store, 'get' | 'list'>,
  { root, ovnGeneration }: Pick<Keys, 'root' | 'ovnGeneration'>,
  signal: AbortSignal,
  cache?: ObjectCache,
): Promise<OvnSnapshot> {
  const group = { root, apiVersion: 'kubeovn.io/v1', generation: ovnGeneration };
  const { objects: stored, unreadable, generation } = await readGroup(store, group, signal, cache);
  return {
    objects: {
      subnets: ofKind<OvnObjects['subnets'][number]>(stored, 'Subnet'),
      vpcs: ofKind<OvnObjects['vpcs'][number]>(stored, 'Vpc'),
      vlans: ofKind<OvnObjects['vlans'][number]>(stored, 'Vlan'),
      ips: ofKind<OvnObjects['ips'][number]>(stored, 'IP'),
      unreadable,
    },
    generation,
  };
}
