/** Pods of an API server: their records, their addresses, and the annotations that answer them. */
import { keysBelow } from '@podwire/cluster-state';
import { PodwireError } from '@podwire/errors';
import { expect, it, onTestFinished } from 'vitest';
import { KubernetesCluster, paths } from './kubernetes-cluster.js';

const prefix = 'ovn.kubernetes.io/';

async function createCluster(): Promise<KubernetesCluster> {
  const cluster = new KubernetesCluster();
  onTestFinished(() => cluster.close());
  await cluster.start();
  return cluster;
}

const isPatch = ({ method }: { readonly method: string }): boolean => method === 'PATCH';

it('gives a pod its address before any node asks, and writes it into its annotations', async () => {
  const cluster = await createCluster();
  cluster.addPod('web', { annotations: { [`${prefix}ingress_rate`]: '3', other: 'kept' } });
  const { network } = cluster.follow();
  await expect
    .poll(() => cluster.annotationsOf('web'))
    .toEqual({
      ...{ ip_address: '10.16.0.2', mac_address: expect.stringMatching(/^0a(:..){5}$/) as string },
      ...{ cidr: '10.16.0.0/24', gateway: '10.16.0.1', logical_switch: 'ovn-default' },
      ...{ logical_router: 'ovn-cluster', network_type: 'geneve', pod_nic_type: 'veth-pair' },
      ...{ allocated: 'true', routed: 'true', ingress_rate: '3' },
    });
  expect(network.applied).toEqual(['shop/web']);
  expect(await cluster.record('web')).toMatchObject({ uid: 'web-1', node: 'n1', source: 'kubernetes' });
  const [{ body } = {}] = cluster.api.asked.filter(isPatch);
  const { metadata } = body as { metadata: { uid: string; annotations: Record<string, string> } };
  expect(metadata.uid).toBe('web-1');
  expect(Object.keys(metadata.annotations)).not.toContain(`${prefix}ingress_rate`);
});

it('writes annotations again that another one has taken away', async () => {
  const cluster = await createCluster();
  cluster.addPod('web');
  cluster.follow();
  await expect.poll(() => cluster.annotationsOf('web')['routed']).toBe('true');
  await cluster.api.until(({ query }) => query['watch'] === 'true', 4);
  cluster.addPod('web', { annotations: { [`${prefix}gateway`]: '10.16.0.9' } });
  await expect
    .poll(() => cluster.annotationsOf('web'))
    .toMatchObject({ routed: 'true', gateway: '10.16.0.1' });
});

it('makes no records for pods that have no node, or the network of theirs, or have ended', async () => {
  const cluster = await createCluster();
  cluster.addPod('waiting', { node: '' });
  cluster.addPod('host', { hostNetwork: true });
  cluster.addPod('done', { phase: 'Succeeded' });
  cluster.addPod('web');
  cluster.follow();
  await expect.poll(() => cluster.listIps()).toEqual(['web.shop']);
  cluster.addPod('web', { phase: 'Failed' });
  cluster.addPod('waiting', { node: 'n2' });
  await expect.poll(() => cluster.listIps()).toEqual(['waiting.shop']);
  expect(await cluster.record('web')).toBeUndefined();
});

it('keeps the address that a node has asked for, also when the record is lost', async () => {
  const cluster = await createCluster();
  await cluster.putRecord('web', { annotations: { [`${prefix}ip_address`]: '10.16.0.77' } });
  cluster.addPod('web');
  cluster.follow();
  await expect.poll(() => cluster.annotationsOf('web')['ip_address']).toBe('10.16.0.77');
  expect((await cluster.record('web'))?.source).toBe('kubernetes');
  await cluster.store.delete(keysBelow('/podwire').ovnPod('shop', 'web'));
  await expect.poll(() => cluster.addressOf('web')).toBe('10.16.0.77');
});

it('leaves the pod of a node that the API server does not have', async () => {
  const cluster = await createCluster();
  await cluster.putRecord('own', { uid: 'sandbox' });
  cluster.addPod('web');
  cluster.follow();
  await expect.poll(() => cluster.listIps()).toEqual(['own.shop', 'web.shop']);
  cluster.removePod('web');
  await expect.poll(() => cluster.listIps()).toEqual(['own.shop']);
});

it('gives a successor under the same name addresses of its own, when the first one goes at the same moment', async () => {
  const cluster = await createCluster();
  cluster.addPod('web');
  const { network } = cluster.follow();
  await expect.poll(() => cluster.annotationsOf('web')['ip_address']).toBe('10.16.0.2');
  cluster.removePod('web');
  cluster.addPod('web', { uid: 'web-2', node: 'n2' });
  await expect.poll(() => cluster.annotationsOf('web')['ip_address']).toBe('10.16.0.3');
  expect(await cluster.record('web')).toMatchObject({ uid: 'web-2', node: 'n2' });
  expect(network.applied).toEqual(['shop/web']);
});

it('writes nothing to a successor that it has not heard of', async () => {
  const cluster = await createCluster();
  cluster.follow();
  await cluster.api.until(({ query }) => query['watch'] === 'true', 4);
  cluster.addPod('web');
  await expect.poll(() => cluster.annotationsOf('web')['routed']).toBe('true');
  // The server has another one by now, and no watch says so.
  const { metadata } = cluster.api.find(paths.pods, 'web')!;
  metadata.uid = 'web-2';
  metadata['annotations'] = {};
  const before = cluster.api.asked.filter(isPatch).length;
  await cluster.putRecord('web', {
    ...(await cluster.record('web'))!,
    annotations: { ...(await cluster.record('web'))!.annotations, [`${prefix}gateway`]: '10.16.0.9' },
  });
  await cluster.api.until(isPatch, before + 1);
  expect(cluster.annotationsOf('web')).toEqual({});
});

it('chooses the subnet of the namespace, unless the pod names one', async () => {
  const cluster = await createCluster();
  const subnets = { [`${prefix}logical_switch`]: 'blue' };
  cluster.addNamespace('shop', subnets);
  cluster.addPod('web');
  cluster.addPod('named', { annotations: { [`${prefix}logical_switch`]: 'ovn-default' } });
  const { loop } = cluster.follow();
  await expect.poll(() => cluster.addressOf('named')).toBe('10.16.0.2');
  const problem = `OVN_CONFLICT: pod shop/web: ${prefix}logical_switch: there is no subnet blue`;
  await expect.poll(() => loop.problems).toEqual([problem]);
  cluster.addNamespace('shop');
  await expect.poll(() => cluster.addressOf('web')).toBe('10.16.0.3');
});

it('keeps addresses of a stateful set that loses a pod, and frees those of pods that it does not want', async () => {
  const cluster = await createCluster();
  cluster.setStatefulSet('db', 2);
  for (const name of ['db-0', 'db-1']) cluster.addPod(name, { set: 'db' });
  const { network } = cluster.follow();
  await expect.poll(() => network.applied).toEqual(['shop/db-0', 'shop/db-1']);
  const address = await cluster.addressOf('db-1');
  cluster.removePod('db-1');
  await expect.poll(() => network.applied).toEqual(['shop/db-0']);
  expect(await cluster.listIps()).toEqual(['db-0.shop', 'db-1.shop']);
  cluster.addPod('db-1', { set: 'db', uid: 'db-1-2', node: 'n2' });
  await expect.poll(() => cluster.annotationsOf('db-1')['ip_address']).toBe(address);
  cluster.removePod('db-1');
  cluster.setStatefulSet('db', 1);
  await expect.poll(() => cluster.listIps()).toEqual(['db-0.shop']);
});

it('makes up for what it has missed: a set that was scaled, and a pod that has come again', async () => {
  const cluster = await createCluster();
  cluster.setStatefulSet('db', 3);
  for (const name of ['db-0', 'db-1', 'db-2']) cluster.addPod(name, { set: 'db' });
  cluster.addPod('web');
  const first = cluster.follow();
  await expect.poll(() => first.network.applied.length).toBe(4);
  const address = await cluster.addressOf('db-1');
  await first.stop();
  for (const name of ['db-1', 'db-2', 'web']) cluster.removePod(name);
  cluster.setStatefulSet('db', 2);
  cluster.addPod('web', { uid: 'web-2' });
  cluster.follow();
  await expect.poll(() => cluster.listIps()).toEqual(['db-0.shop', 'db-1.shop', 'web.shop']);
  await expect.poll(async () => (await cluster.record('web'))?.uid).toBe('web-2');
  cluster.addPod('db-1', { set: 'db', uid: 'db-1-2' });
  await expect.poll(() => cluster.addressOf('db-1')).toBe(address);
});

it('takes nothing away before the API server has answered for all kinds', async () => {
  const cluster = await createCluster();
  cluster.setStatefulSet('db', 1);
  cluster.addPod('db-0', { set: 'db' });
  const first = cluster.follow();
  await expect.poll(() => cluster.annotationsOf('db-0')['routed']).toBe('true');
  cluster.removePod('db-0');
  await expect.poll(() => first.network.applied).toEqual([]);
  await first.stop();
  cluster.api.unavailable.add(paths.statefulSets);
  const isWatch = ({ query }: { readonly query: Record<string, string> }): boolean =>
    query['watch'] === 'true';
  const before = cluster.api.asked.filter(isWatch).length;
  cluster.addPod('web');
  const { network } = cluster.follow();
  await cluster.api.until(isWatch, before + 3);
  cluster.api.unavailable.clear();
  await expect.poll(() => network.applied).toEqual(['shop/web']);
  expect(await cluster.listIps()).toEqual(['db-0.shop', 'web.shop']);
});

it.each([410, 500])('follows pods over watches that break, and after error %i of a watch', async (code) => {
  const cluster = await createCluster();
  cluster.addPod('a');
  const { network } = cluster.follow();
  await expect.poll(() => network.applied).toEqual(['shop/a']);
  await cluster.api.until(({ query }) => query['watch'] === 'true', 4);
  cluster.api.sendError(code);
  cluster.removePod('a');
  cluster.addPod('b');
  await expect.poll(() => network.applied).toEqual(['shop/b']);
  cluster.api.breakWatches();
  cluster.addPod('c');
  await expect.poll(() => network.applied).toEqual(['shop/b', 'shop/c']);
});

it('gives addresses and makes rows while annotations are refused, and writes them later', async () => {
  const cluster = await createCluster();
  const { network } = cluster.follow();
  await cluster.api.until(({ query }) => query['watch'] === 'true', 4);
  cluster.api.failures.push(503);
  cluster.addPod('web');
  await expect.poll(() => network.applied).toEqual(['shop/web']);
  await cluster.api.until(isPatch);
  expect(cluster.annotationsOf('web')).toEqual({});
  await expect.poll(() => cluster.annotationsOf('web')['allocated']).toBe('true');
});

it('tells pods that they are routed when their rows are there, whatever becomes of others', async () => {
  const cluster = await createCluster();
  const { network } = cluster.follow();
  network.refused.add('shop/bad');
  cluster.addPod('bad');
  await expect.poll(() => network.applied).toEqual(['shop/bad']);
  cluster.addPod('web');
  await expect.poll(() => cluster.annotationsOf('web')['routed']).toBe('true');
  expect(cluster.annotationsOf('bad')).toEqual({});
  network.refused.clear();
  await expect.poll(() => cluster.annotationsOf('bad')['routed']).toBe('true');
});

it('calls no pod routed while nothing can be written into the database', async () => {
  const cluster = await createCluster();
  cluster.addPod('web');
  const { network } = cluster.follow();
  network.onClaim = () => Promise.reject(new PodwireError('BACKEND_SILENT', 'the database is away'));
  // The first attempt is over when the second one begins.
  await expect.poll(() => network.claims.length).toBeGreaterThan(2);
  await cluster.api.until(({ query }) => query['watch'] === 'true', 4);
  expect(cluster.api.asked.filter(isPatch)).toEqual([]);
  network.onClaim = () => Promise.resolve();
  await expect.poll(() => cluster.annotationsOf('web')['routed'], { timeout: 5_000 }).toBe('true');
});

it('writes no annotations any more when another controller has the database', async () => {
  const cluster = await createCluster();
  cluster.addPod('web');
  const { network } = cluster.follow();
  await expect.poll(() => cluster.annotationsOf('web')['routed']).toBe('true');
  network.onClaim = () => Promise.reject(new PodwireError('STORE_CONFLICT', 'another controller leads'));
  network.isClaimed = true;
  const [claims, patches] = [network.claims.length, cluster.api.asked.filter(isPatch).length];
  const record = (await cluster.record('web'))!;
  await cluster.putRecord('web', {
    ...record,
    annotations: { ...record.annotations, [`${prefix}gateway`]: '10.16.0.9' },
  });
  await expect.poll(() => network.claims.length).toBeGreaterThan(claims + 2);
  expect(cluster.api.asked.filter(isPatch).length).toBe(patches);
});

it('names lists that the API server has not sent', async () => {
  const cluster = await createCluster();
  cluster.api.unavailable.add(paths.statefulSets);
  const { loop } = cluster.follow();
  const problem =
    "BACKEND_SILENT: the API server's stateful sets are not there yet: addresses of pods wait for them";
  await expect.poll(() => loop.problems).toEqual([problem]);
  cluster.api.unavailable.clear();
  await expect.poll(() => loop.problems, { timeout: 5_000 }).toEqual([]);
});

it('keeps no address for a pod that names a stateful set as its owner, and has no number of it', async () => {
  const cluster = await createCluster();
  cluster.setStatefulSet('db', 1);
  for (const name of ['db-0', 'other-0', 'db-x']) cluster.addPod(name, { set: 'db' });
  cluster.follow();
  await expect.poll(() => cluster.listIps()).toEqual(['db-0.shop', 'db-x.shop', 'other-0.shop']);
  for (const name of ['db-0', 'other-0', 'db-x']) cluster.removePod(name);
  await expect.poll(() => cluster.listIps()).toEqual(['db-0.shop']);
});

it('waits for the namespace of a pod that comes first', async () => {
  const cluster = await createCluster();
  cluster.api.remove('shop', paths.namespaces);
  cluster.addPod('web');
  const { side, loop } = cluster.follow();
  await side.untilSynced(new AbortController().signal);
  await cluster.api.until(({ query }) => query['watch'] === 'true', 4);
  cluster.addNamespace('shop', { [`${prefix}logical_switch`]: 'blue' });
  await expect.poll(() => loop.problems).toEqual([expect.stringContaining('there is no subnet blue')]);
  expect(await cluster.addressOf('web')).toBeUndefined();
});

it('leaves a pod alone that cannot be read, here or in the store, and serves the others', async () => {
  const cluster = await createCluster();
  const annotations = { [`${prefix}ip_pool`]: 'x'.repeat(20_000) };
  cluster.addPod('long', { annotations });
  cluster.addPod('spoilt');
  await cluster.putText('spoilt', 'no record');
  cluster.addPod('web');
  const { network, loop } = cluster.follow();
  await expect.poll(() => network.applied).toEqual(['shop/web']);
  await expect
    .poll(() => loop.problems)
    .toEqual([
      'OBJECT_INVALID: Pod shop/long: metadata.annotations: those of Kube-OVN have 20032 bytes, and 16384 at most are read',
    ]);
  expect((await cluster.store.get(keysBelow('/podwire').ovnPod('shop', 'spoilt')))?.value).toBe('no record');
});

it('answers a node with its end of the subnet join', async () => {
  const cluster = await createCluster();
  cluster.api.putAt(paths.nodes, { metadata: { name: 'n1', uid: 'n1' } });
  await cluster.addNode('n1');
  cluster.follow();
  await expect
    .poll(() => cluster.annotationsOf('n1', paths.nodes))
    .toEqual({
      ...{ ip_address: '100.64.0.2', mac_address: expect.any(String) as string, allocated: 'true' },
      ...{ cidr: '100.64.0.0/16', gateway: '100.64.0.1', logical_switch: 'join', port_name: 'node-n1' },
    });
});

it('limits the gateway of a node by the annotations of the node', async () => {
  const cluster = await createCluster();
  const putNode = (annotations: Readonly<Record<string, string>>): unknown =>
    cluster.api.putAt(paths.nodes, { metadata: { name: 'n1', uid: 'n1', annotations } });
  putNode({ [`${prefix}egress_rate`]: '7' });
  await cluster.addNode('n1');
  cluster.follow();
  await expect.poll(() => cluster.ratesOf('node-n1')).toEqual({ [`${prefix}egress_rate`]: '7' });
  await cluster.api.until(({ query }) => query['watch'] === 'true', 4);
  putNode({ [`${prefix}ingress_rate`]: '9' });
  await expect.poll(() => cluster.ratesOf('node-n1')).toEqual({ [`${prefix}ingress_rate`]: '9' });
  putNode({});
  await expect.poll(() => cluster.ratesOf('node-n1')).toEqual({});
});

it('labels a node by its provider networks, and takes labels away that are over', async () => {
  const cluster = await createCluster();
  const label = (word: string): string => `net1.provider-network.kubernetes.io/${word}`;
  const labels = { [label('exclude')]: 'true', other: 'kept' };
  cluster.api.putAt(paths.nodes, { metadata: { name: 'n1', uid: 'n1', labels } });
  await cluster.addNode('n1', { 'provider-network/net1': 'ready 1500' });
  await cluster.apply('ProviderNetwork', 'net1', { defaultInterface: 'eth1' });
  cluster.follow();
  const read = (): unknown => cluster.api.find(paths.nodes, 'n1')?.metadata['labels'];
  const ready = { [label('ready')]: 'true', [label('interface')]: 'eth1', [label('mtu')]: '1500' };
  await expect.poll(read).toEqual({ ...ready, other: 'kept' });
  await cluster.addNode('n1', { 'provider-network/net1': 'provider network net1: no interface' });
  await expect.poll(read).toEqual({ other: 'kept' });
});

it('a pod that asks for what no subnet can be called does not keep others waiting', async () => {
  const cluster = await createCluster();
  cluster.addPod('web', { annotations: { [`${prefix}logical_switch`]: 'x'.repeat(16_340) } });
  cluster.addPod('other');
  cluster.follow();
  await expect.poll(() => cluster.listIps()).toContain('other.shop');
});

it('tells a pod by an event why it has no address, once', async () => {
  const cluster = await createCluster();
  cluster.addPod('web');
  cluster.follow();
  await expect.poll(() => cluster.annotationsOf('web')['routed']).toBe('true');
  cluster.addPod('lost', { annotations: { [`${prefix}ip_address`]: '192.0.2.77' } });
  const isEvent = ({ method }: { readonly method: string }): boolean => method === 'POST';
  await cluster.api.until(isEvent);
  cluster.addPod('db');
  await expect.poll(() => cluster.annotationsOf('db')['routed']).toBe('true');
  const events = cluster.api.asked.filter(isEvent);
  expect(events.map(({ path }) => path)).toEqual(['/api/v1/namespaces/shop/events']);
  expect(events[0]!.body).toMatchObject({
    ...{ reason: 'AcquireAddressFailed', involvedObject: { name: 'lost', uid: 'lost-1' } },
    message: expect.stringMatching(/^OVN_CONFLICT: .*192\.0\.2\.77/) as string,
  });
});
