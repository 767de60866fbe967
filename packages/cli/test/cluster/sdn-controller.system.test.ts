/** `podwire controller` hands out VNIDs and subnets of OpenShift SDN, on real etcd. */
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { isDeepStrictEqual, promisify } from 'node:util';
import { keysBelow, machineLabel, nodeKind } from '@podwire/cluster-state';
import { createStoreSource } from '@podwire/objects';
import { silentLog, systemClock } from '@podwire/platform';
import { encodeObject } from '@podwire/store';
import { openEtcdStore } from '@podwire/store/etcd';
import { startEtcd } from '@podwire/testkit/etcd';

const program = path.resolve(import.meta.dirname, '../../../../../bin/podwire');

const clusterNetwork = `
apiVersion: network.openshift.io/v1
kind: ClusterNetwork
metadata: { name: default }
clusterNetworks: [{ CIDR: 10.128.0.0/14, hostSubnetLength: 9 }]
serviceNetwork: 172.30.0.0/16
pluginName: redhat/openshift-ovs-multitenant
`;

const namespace = (name: string): string => `---
apiVersion: v1
kind: Namespace
metadata: { name: ${name} }
`;

const node = {
  name: 'n1',
  instance: 'i1',
  version: '0',
  labels: { [machineLabel]: 'm1' },
  addresses: { ipv4: '192.168.0.1/24' },
  mtu: 1500,
  registeredAt: 1,
};

const askToJoin = `
apiVersion: network.openshift.io/v1
kind: NetNamespace
metadata:
  name: bar
  annotations: { pod.network.openshift.io/multitenant.change-network: 'join:shop' }
netname: bar
netid: 10
`;

test('VNIDs and subnets follow what is applied', { timeout: 60_000 }, async (context) => {
  const closing: (() => Promise<unknown>)[] = [];
  context.after(async () => {
    for (const close of closing.toReversed()) await close();
  });
  const etcd = await startEtcd({});
  closing.push(() => etcd.close());
  const opened = await openEtcdStore(etcd.spec, { log: silentLog, clock: systemClock });
  closing.push(() => opened.close());
  const keys = keysBelow('/podwire');
  const source = createStoreSource({ store: opened, root: keys.root, clock: systemClock });
  const store = etcd.spec.endpoints[0]!.replace('http', 'etcd');
  const podwire = async (...words: readonly string[]): Promise<string> => {
    const { stdout } = await promisify(execFile)(program, [...words, '--store', store], { timeout: 30_000 });
    return stdout;
  };
  const apply = async (text: string): Promise<void> => {
    const file = path.join(etcd.directory, 'objects.yaml');
    fs.writeFileSync(file, text);
    await podwire('apply', '-f', file);
  };
  /** Resolves when the store has these values of a field, by the name of their objects. */
  const untilHas = async (kind: string, field: string, expected: Readonly<Record<string, unknown>>) => {
    for await (const batch of source.watch({ signal: context.signal })) {
      assert.ok(batch.revision > 0);
      const { objects } = await source.list({ kinds: [{ apiVersion: 'network.openshift.io/v1', kind }] });
      const found = objects.map(({ object }) => [
        object.metadata.name,
        Reflect.get(object, field) as unknown,
      ]);
      if (isDeepStrictEqual(Object.fromEntries(found), expected)) return;
    }
  };

  const controller = spawn(program, ['controller', '--store', store, '--name', 'c'], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  closing.push(async () => {
    const gone = once(controller, 'exit');
    if (controller.kill('SIGTERM')) await gone;
  });
  await opened.put(keys.node('n1'), encodeObject(nodeKind, node));
  await apply(`${clusterNetwork}${namespace('shop')}${namespace('bar')}`);
  await untilHas('NetNamespace', 'netid', { default: 0, bar: 10, shop: 11 });
  await untilHas('HostSubnet', 'subnet', { n1: '10.128.0.0/23' });
  assert.match(await podwire('get', 'netnamespaces'), /^bar +10 .*\ndefault +0 .*\nshop +11 /m);
  assert.match(await podwire('get', 'hostsubnets'), /^n1 +n1 +192\.168\.0\.1 +10\.128\.0\.0\/23 /m);

  await apply(askToJoin);
  await untilHas('NetNamespace', 'netid', { default: 0, bar: 11, shop: 11 });
  await podwire('delete', 'namespace', 'shop');
  await opened.delete(keys.node('n1'));
  await untilHas('NetNamespace', 'netid', { default: 0, bar: 11 });
  await untilHas('HostSubnet', 'subnet', {});
});
