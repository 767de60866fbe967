import { checkObject, createStoreSource } from '@podwire/objects';
import { systemClock } from '@podwire/platform';
import { expect, test } from 'vitest';
import { createTestCluster, keys, until } from '../fakes/cluster.js';
import { matching } from '../fakes/matchers.js';

test('the node that leads shows what the controller cannot hand out', async () => {
  const cluster = createTestCluster();
  const node = cluster.node('n1');
  await node.start();
  const source = createStoreSource({ store: cluster.store, root: keys.root, clock: systemClock });
  const checked = checkObject({
    apiVersion: 'network.openshift.io/v1',
    kind: 'ClusterNetwork',
    metadata: { name: 'default' },
    clusterNetworks: [{ CIDR: '192.0.0.0/16', hostSubnetLength: 8 }],
    serviceNetwork: '172.30.0.0/16',
    pluginName: 'redhat/openshift-ovs-multitenant',
  });
  if (!checked.ok) throw new Error(JSON.stringify(checked.problems));
  await source.save(checked.object, undefined);
  await until(() => node.member.problems().length > 0);
  expect(node.member.problems()).toEqual([
    matching(/^SDN_CONFLICT: the address of n1 192\.0\.2\.\d+ lies in 192\.0\.0\.0\/16, /),
  ]);
  await source.delete({ apiVersion: 'network.openshift.io/v1', kind: 'ClusterNetwork', name: 'default' });
  await until(() => node.member.problems().length === 0);
});
