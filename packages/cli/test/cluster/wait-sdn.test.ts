/** `apply --wait` for objects of OpenShift SDN, which the controller answers before nodes follow. */
import { policyStatusKind } from '@podwire/cluster-state';
import { encodeObject } from '@podwire/store';
import { expect, test } from 'vitest';
import { writeTemporary } from '../support.js';
import { createCluster, type TestCluster } from './cluster.js';

const clusterNetwork = (mode: string): string =>
  `apiVersion: network.openshift.io/v1\nkind: ClusterNetwork\nmetadata: {name: default}\nserviceNetwork: 172.30.0.0/16\npluginName: redhat/openshift-ovs-${mode}\nclusterNetworks: [{CIDR: 10.128.0.0/14, hostSubnetLength: 9}]\n`;
const netNamespace = (netid: number, annotations = ''): string =>
  `apiVersion: network.openshift.io/v1\nkind: NetNamespace\nmetadata: {name: shop${annotations}}\nnetname: shop\nnetid: ${netid}\n`;
const wanted = ', annotations: {pod.network.openshift.io/multitenant.change-network: global}';
const namespace = 'apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n';

async function apply(
  cluster: TestCluster,
  text: string,
  ...flags: readonly string[]
): Promise<[code: number, stderr: string]> {
  const { code, stderr } = await cluster.podwire(
    ['apply -f', writeTemporary('object.yaml', text), ...flags].join(' '),
  );
  return [code, stderr];
}

/** @param objects revision of what network models read, in force on the node */
const say = (cluster: TestCluster, node: string, objects: number, more: object = {}): Promise<unknown> =>
  cluster.store.put(
    cluster.keys.policyStatus(node),
    encodeObject(policyStatusKind, { node, revision: 1_000, problems: [], objects, ...more }),
  );

const revisionOf = async ({ store }: TestCluster, kind: string): Promise<number> =>
  (await store.get(`/podwire/objects/network.openshift.io/${kind}/_/shop`))!.revision;

async function createMultitenant(): Promise<TestCluster> {
  const cluster = createCluster();
  await cluster.node('n1');
  expect(await apply(cluster, clusterNetwork('multitenant'))).toEqual([0, '']);
  return cluster;
}

const late = 'warning: n1 has not said in time that it is in force there\n';

/** Answers as the controller does, and then the node follows. */
async function answerOnce(cluster: TestCluster): Promise<void> {
  const key = '/podwire/objects/network.openshift.io/NetNamespace/_/shop';
  const over = new AbortController();
  for await (const batch of cluster.store.watch(key, { signal: over.signal })) {
    // It may have been applied before the watch has begun.
    if (batch.type === 'snapshot' && batch.items.length === 0) continue;
    over.abort();
    await apply(cluster, netNamespace(0));
    await say(cluster, 'n1', await revisionOf(cluster, 'NetNamespace'));
  }
}

test('a change of a VNID is waited for until the controller has made it and every node has followed', async () => {
  const cluster = await createMultitenant();
  await say(cluster, 'n1', 0);
  const answering = answerOnce(cluster);
  expect(await apply(cluster, netNamespace(42, wanted), '--wait')).toEqual([0, '']);
  await answering;
});

test('a node that has not followed is named, also where its policy is switched off', async () => {
  const cluster = await createMultitenant();
  await say(cluster, 'n1', 0);
  expect(await apply(cluster, netNamespace(42), '--wait --timeout 1')).toEqual([4, late]);
  await say(cluster, 'n1', 0, { isOff: true });
  const [code, stderr] = await apply(cluster, netNamespace(43), '--wait --timeout 1');
  expect([code, stderr.startsWith(late)]).toEqual([4, true]);
});

test('a namespace has its NetNamespace when the command ends', async () => {
  const cluster = await createMultitenant();
  await say(cluster, 'n1', 1_000);
  const waiting = apply(cluster, namespace, '--wait');
  await apply(cluster, netNamespace(42));
  expect(await waiting).toEqual([0, '']);
});

test('what the controller does not answer is named', async () => {
  const cluster = await createMultitenant();
  await say(cluster, 'n1', 1_000);
  expect(await apply(cluster, netNamespace(42, wanted), '--wait --timeout 1')).toEqual([
    4,
    'warning: the controller has not answered NetNamespace shop in time; podwire status says why\n',
  ]);
});

test('nothing is waited for where no VNIDs are handed out, or where they do not count', async () => {
  const cluster = createCluster();
  await cluster.node('n1');
  await say(cluster, 'n1', 1_000);
  expect(await apply(cluster, namespace, '--wait')).toEqual([0, '']);
  await apply(cluster, clusterNetwork('subnet'));
  expect(await apply(cluster, netNamespace(42, wanted), '--wait')).toEqual([0, '']);
});
