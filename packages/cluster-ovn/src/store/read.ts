/** One look at the objects of Kube-OVN in a store. */
import type { Keys } from '@podwire/cluster-state';
import { ObjectDecoder, objectsPrefix, type StoredObject } from '@podwire/objects';
import type { Expectation, Store } from '@podwire/store';
import type { OvnObjects } from '../cluster/contract.js';

export const ovnGroup = 'kubeovn.io';

export interface OvnSnapshot {
  readonly objects: OvnObjects;
  /** Revision of the key that each plan writes that is carried out; absent: none has ever been. */
  readonly generation: Expectation;
}

/**
 * @param decoder of the look before: what has not changed is not decoded again
 * @throws PodwireError STORE_UNAVAILABLE, STORE_DENIED
 */
export async function readOvnObjects(
  store: Pick<Store, 'get' | 'list'>,
  { root, ovnGeneration }: Pick<Keys, 'root' | 'ovnGeneration'>,
  signal: AbortSignal,
  decoder = new ObjectDecoder(),
): Promise<OvnSnapshot> {
  // First: a plan that is carried out after it changes it, whatever the list has of that plan.
  const generation = await store.get(ovnGeneration, { signal });
  const { items } = await store.list(`${objectsPrefix(root)}${ovnGroup}/`, { signal });
  const decoded = decoder.decode(root, items);
  const stored = decoded.flatMap((each) => each.stored ?? []);
  return {
    objects: {
      subnets: ofKind<OvnObjects['subnets'][number]>(stored, 'Subnet'),
      vpcs: ofKind<OvnObjects['vpcs'][number]>(stored, 'Vpc'),
      vlans: ofKind<OvnObjects['vlans'][number]>(stored, 'Vlan'),
      ips: ofKind<OvnObjects['ips'][number]>(stored, 'IP'),
      unreadable: decoded.flatMap((each) => each.unreadable ?? []),
    },
    generation: generation?.revision ?? 'absent',
  };
}

/** The schema of the kind has read the object, so that it is of the kind's type. */
const ofKind = <T extends StoredObject>(stored: readonly StoredObject[], kind: string): readonly T[] =>
  stored.filter(({ object }) => object.kind === kind) as unknown as readonly T[];
