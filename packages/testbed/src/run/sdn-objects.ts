/** Objects that a testbed of the model sdn begins with, and those of its pods' namespaces. */
import { type AnyObject, createStoreSource } from '@podwire/objects';
import { systemClock } from '@podwire/platform';
import type { Store } from '@podwire/store';
import { sdnNetwork, type SdnMode, storeRoot } from '../shape.js';

const { clusterNetwork, hostSubnetLength, serviceNetwork } = sdnNetwork;

const describeNetwork = (mode: SdnMode): AnyObject & Record<string, unknown> => ({
  ...{ apiVersion: 'network.openshift.io/v1', kind: 'ClusterNetwork', metadata: { name: 'default' } },
  clusterNetworks: [{ CIDR: clusterNetwork, hostSubnetLength }],
  ...{ serviceNetwork, pluginName: `redhat/openshift-ovs-${mode}` },
});

const describeNamespace = (name: string): AnyObject => ({
  ...{ apiVersion: 'v1', kind: 'Namespace', metadata: { name } },
});

export async function saveNetwork(
  store: Store,
  mode: SdnMode = 'multitenant',
  signal: AbortSignal,
): Promise<void> {
  const source = createStoreSource({ store, root: storeRoot, clock: systemClock });
  for (const object of [describeNetwork(mode), describeNamespace('default')])
    await source.save(object, undefined, { signal });
}

/** A pod without a namespace cannot be; one that is there stays as it is. */
export async function ensureNamespace(store: Store, name: string, signal?: AbortSignal): Promise<void> {
  const source = createStoreSource({ store, root: storeRoot, clock: systemClock });
  const found = await source.get({ apiVersion: 'v1', kind: 'Namespace', name }, { signal });
  if (found === undefined) await source.save(describeNamespace(name), undefined, { signal });
}
