/** One look at the objects of OpenShift SDN in a store. */
import type { Keys } from '@podwire/cluster-state';
import {
  type AnyObject,
  ObjectDecoder,
  type ObjectListing,
  type ObjectReference,
  objectsPrefix,
  type StoredObject,
} from '@podwire/objects';
import type { Expectation, Store } from '@podwire/store';
import type { SdnObjects } from '../contract.js';

const group = 'network.openshift.io';

export interface SdnSnapshot {
  readonly objects: SdnObjects;
  /** Revision of the key that each plan writes that is carried out; absent: none has ever been. */
  readonly generation: Expectation;
}

/**
 * @param decoder of the look before, if there was one: what has not changed is not decoded again
 * @throws PodwireError STORE_UNAVAILABLE, STORE_DENIED
 */
export async function readSdnObjects(
  store: Pick<Store, 'get' | 'list'>,
  { root, sdnGeneration }: Pick<Keys, 'root' | 'sdnGeneration'>,
  signal: AbortSignal,
  decoder = new ObjectDecoder(),
): Promise<SdnSnapshot> {
  // First: a plan that is carried out after it changes it, whatever the list has of that plan.
  const generation = await store.get(sdnGeneration, { signal });
  const { items } = await store.list(`${objectsPrefix(root)}${group}/`, { signal });
  const decoded = decoder.decode(root, items);
  const objects = decoded.flatMap(({ stored }) => stored ?? []);
  const unreadable = decoded.flatMap((each) => each.unreadable ?? []);
  return { objects: selectSdnObjects({ objects, unreadable }), generation: generation?.revision ?? 'absent' };
}

/** Of all that a source has, the objects of OpenShift SDN. */
export function selectSdnObjects({
  objects,
  unreadable,
}: Pick<ObjectListing, 'objects' | 'unreadable'>): SdnObjects {
  const own = objects.filter(({ object }) => isOwn(object));
  return {
    clusterNetwork: ofKind<NonNullable<SdnObjects['clusterNetwork']>>(own, 'ClusterNetwork').find(
      ({ object }) => object.metadata.name === 'default',
    ),
    hostSubnets: ofKind<SdnObjects['hostSubnets'][number]>(own, 'HostSubnet'),
    netNamespaces: ofKind<SdnObjects['netNamespaces'][number]>(own, 'NetNamespace'),
    unreadable: unreadable.filter(({ reference }) => isOwn(reference)),
  };
}

const isOwn = ({ apiVersion }: Pick<AnyObject | ObjectReference, 'apiVersion'>): boolean =>
  apiVersion.startsWith(`${group}/`);

/** The schema of the kind has read the object, so that it is of the kind's type. */
const ofKind = <T extends StoredObject>(stored: readonly StoredObject[], kind: string): readonly T[] =>
  stored.filter(({ object }) => object.kind === kind) as unknown as readonly T[];
