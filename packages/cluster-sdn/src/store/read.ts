/** One look at the objects of OpenShift SDN in a store. */
import type { Keys } from '@podwire/cluster-state';
import {
  type AnyObject,
  type GroupLook,
  type ObjectCache,
  type ObjectListing,
  type ObjectReference,
  ofKind,
  readGroup,
} from '@podwire/objects';
import type { Store } from '@podwire/store';
import type { SdnObjects } from '../contract.js';

const group = 'network.openshift.io';

export interface SdnSnapshot extends Pick<GroupLook, 'generation'> {
  readonly objects: SdnObjects;
}

/**
 * @param cache of the look before, if there was one: what has not changed is not decoded again
 * @throws PodwireError STORE_UNAVAILABLE, STORE_DENIED
 */
export async function readSdnObjects(
  store: Pick<Store, 'get' | 'list'>,
  { root, sdnGeneration }: Pick<Keys, 'root' | 'sdnGeneration'>,
  signal: AbortSignal,
  cache?: ObjectCache,
): Promise<SdnSnapshot> {
  const place = { root, apiVersion: `${group}/v1`, generation: sdnGeneration };
  const look = await readGroup(store, place, signal, cache);
  return { objects: selectSdnObjects(look), generation: look.generation };
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
