/** The controller of Kube-OVN's objects, on real etcd and a real northbound database with ovn-northd. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type AnyObject, type IP, kinds, type Subnet, type Vlan, type Vpc } from '@podwire/objects';
import { until } from '@podwire/testkit';
import { OvnCluster } from './ovn-cluster.js';

async function withCluster(work: (cluster: OvnCluster) => Promise<void>): Promise<void> {
  const cluster = await OvnCluster.start();
  try {
    await work(cluster);
  } finally {
    await cluster.close();
  }
}

/** Fails with the last difference. */
const waitFor = (read: () => Promise<unknown>, expected: unknown): Promise<true> =>
  until('as expected', async () => {
    assert.deepEqual(await read(), expected);
    return true;
  });

const policies = (cluster: OvnCluster) => cluster.list('Logical_Router_Policy', 'match');

test('a cluster begins with a VPC, the subnet of its nodes, and one for pods', () =>
  withCluster(async (cluster) => {
    cluster.startController('a');
    await waitFor(() => cluster.list('Logical_Switch'), ['join', 'ovn-default']);
    await waitFor(() => cluster.list('Logical_Router'), ['ovn-cluster']);
    await waitFor(() => cluster.list('Logical_Router_Static_Route', 'ip_prefix'), ['0.0.0.0/0']);
    await cluster.addNode(1);
    await waitFor(
      () => cluster.list('Logical_Switch_Port'),
      [...['join-ovn-cluster', 'node-n1', 'ovn-default-ovn-cluster']],
    );
    assert.equal((await cluster.get<IP>('IP', 'node-n1'))?.spec.ipAddress, '100.64.0.2');
    await waitFor(
      () => policies(cluster),
      [
        ...['ip4.dst == 10.16.0.0/16', 'ip4.dst == 100.64.0.0/16', 'ip4.dst == 192.0.2.1'],
        ...['ip4.src == $join.n1_ip4', 'ip4.src == $ovn_default.n1_ip4'],
      ],
    );
  }));

test('subnets, VPCs and VLANs that people apply, change and delete are followed', () =>
  withCluster(async (cluster) => {
    cluster.startController('a');
    await cluster.addNode(1);
    await cluster.apply('Vpc', 'red', { staticRoutes: [{ cidr: '0.0.0.0/0', nextHopIP: '10.30.0.254' }] });
    await cluster.apply('Subnet', 'red-1', { vpc: 'red', cidrBlock: '10.30.0.0/24' });
    await cluster.apply('Vlan', 'v10', { id: 10, provider: 'net1' });
    await cluster.apply('Subnet', 'outside', { vlan: 'v10', cidrBlock: '10.40.0.0/24' });
    await waitFor(() => cluster.list('Logical_Switch'), ['join', 'outside', 'ovn-default', 'red-1']);
    await waitFor(() => cluster.list('Logical_Router'), ['ovn-cluster', 'red']);
    const tag = () => cluster.central.nbctl('get', 'Logical_Switch_Port', 'localnet.outside', 'tag');
    await waitFor(async () => (await tag()).trim(), '10');
    await cluster.apply('Vlan', 'v10', { id: 20, provider: 'net1' });
    await waitFor(async () => (await tag()).trim(), '20');
    await cluster.delete('Subnet', 'red-1');
    await cluster.delete('Vpc', 'red');
    await waitFor(() => cluster.list('Logical_Router'), ['ovn-cluster']);
    await waitFor(() => cluster.list('Logical_Switch'), ['join', 'outside', 'ovn-default']);
  }));

test('a gateway that is gone is passed over until it is back', () =>
  withCluster(async (cluster) => {
    cluster.startController('a');
    for (const number of [1, 2]) await cluster.addNode(number);
    await cluster.apply('Subnet', 'blue', {
      ...{ cidrBlock: '10.17.0.0/16', gatewayType: 'centralized', gatewayNode: 'n1,n2' },
    });
    const hops = async () => {
      const text = await cluster.central.nbctl(
        ...[
          '--bare',
          '--columns=nexthops',
          'find',
          'Logical_Router_Policy',
          'match="ip4.src == 10.17.0.0/16"',
        ],
      );
      return text.trim().split(/\s+/).sort();
    };
    await waitFor(hops, ['100.64.0.2', '100.64.0.3']);
    await cluster.disconnectNode(1);
    await waitFor(hops, ['100.64.0.3']);
    await cluster.connectNode(1);
    await waitFor(hops, ['100.64.0.2', '100.64.0.3']);
  }));

test('a subnet that overlaps another is a problem, and is made when the other one is gone', () =>
  withCluster(async (cluster) => {
    const { controller } = cluster.startController('a');
    await cluster.apply('Subnet', 'first', { cidrBlock: '10.17.0.0/16' });
    await waitFor(() => cluster.list('Logical_Switch'), ['first', 'join', 'ovn-default']);
    await cluster.apply('Subnet', 'second', { cidrBlock: '10.17.5.0/24' });
    await waitFor(
      () => Promise.resolve(controller.problems()),
      [
        'OVN_CONFLICT: Subnet second: spec.cidrBlock: 10.17.5.0/24 overlaps 10.17.0.0/16 of spec.cidrBlock of Subnet first in the VPC ovn-cluster',
      ],
    );
    assert.deepEqual(await cluster.list('Logical_Switch'), ['first', 'join', 'ovn-default']);
    await cluster.delete('Subnet', 'first');
    await waitFor(() => cluster.list('Logical_Switch'), ['join', 'ovn-default', 'second']);
    await waitFor(() => Promise.resolve(controller.problems()), []);
  }));

/** A line of `podwire get subnets`. */
async function showSubnet(cluster: OvnCluster, name: string, titles: readonly string[]) {
  const subnet = await cluster.get<Subnet>('Subnet', name);
  const { columns = [] } = kinds.find(({ kind }) => kind === 'Subnet') ?? {};
  return titles.map((title) => columns.find((column) => column.title === title)!.show(subnet as AnyObject));
}

test('the status of objects says how many addresses are free, and why a subnet is not made', () =>
  withCluster(async (cluster) => {
    cluster.startController('a');
    await cluster.addNode(1);
    await waitFor(() => showSubnet(cluster, 'join', ['V4USED', 'V4AVAILABLE']), ['1', '65532']);
    await cluster.apply('Vlan', 'v10', { id: 10, provider: 'net1' });
    await cluster.apply('Subnet', 'outside', { vlan: 'v10', cidrBlock: '10.40.0.0/24,fd40::/120' });
    const titles = ['V4USED', 'V4AVAILABLE', 'V6USED', 'V6AVAILABLE'];
    await waitFor(() => showSubnet(cluster, 'outside', titles), ['0', '253', '0', '253']);
    await waitFor(async () => (await cluster.get<Vlan>('Vlan', 'v10'))?.status, { subnets: ['outside'] });
    const subnets = async () => (await cluster.get<Vpc>('Vpc', 'ovn-cluster'))?.status?.subnets;
    await waitFor(subnets, ['join', 'outside', 'ovn-default']);

    const error = async () => {
      const { status } = (await cluster.get<Subnet>('Subnet', 'outside'))!;
      const found = status?.conditions.find(({ type }) => type === 'Error');
      return [found?.status, found?.message];
    };
    await waitFor(error, ['False', '']);
    await cluster.apply('Subnet', 'outside', { vlan: 'v11', cidrBlock: '10.40.0.0/24,fd40::/120' });
    await waitFor(error, ['True', 'Subnet outside: spec.vlan: there is no Vlan v11']);
    await cluster.apply('Vlan', 'v11', { id: 11, provider: 'net1' });
    await waitFor(error, ['False', '']);
  }));

test('one of two controllers leads; the next one goes on from what is there, and leaves what others have made', () =>
  withCluster(async (cluster) => {
    const first = cluster.startController('a');
    for (const number of [1, 2]) await cluster.addNode(number);
    await waitFor(async () => (await cluster.list('Port_Group')).length, 4);
    const second = cluster.startController('b');
    await first.stop();
    await cluster.central.nbctl('ls-add', 'foreign');
    await cluster.central.nbctl('lsp-del', 'node-n2');
    await until('the second one leads', () => second.controller.isLeading);
    await cluster.addNode(3);
    await waitFor(
      () => cluster.list('Logical_Switch_Port'),
      ['join-ovn-cluster', 'node-n1', 'node-n2', 'node-n3', 'ovn-default-ovn-cluster'],
    );
    assert.deepEqual(await cluster.list('Logical_Switch'), ['foreign', 'join', 'ovn-default']);
    assert.equal((await cluster.get<IP>('IP', 'node-n3'))?.spec.ipAddress, '100.64.0.4');
  }));

test('addresses of a node that is gone are those of no other at once, and an emptied database is filled again', () =>
  withCluster(async (cluster) => {
    cluster.startController('a');
    for (const number of [1, 2]) await cluster.addNode(number);
    await waitFor(async () => (await cluster.get<IP>('IP', 'node-n2'))?.spec.ipAddress, '100.64.0.3');
    await cluster.removeNode(1);
    await waitFor(() => cluster.get('IP', 'node-n1'), undefined);
    await cluster.addNode(3);
    await waitFor(async () => (await cluster.get<IP>('IP', 'node-n3'))?.spec.ipAddress, '100.64.0.4');
    const rows = async () => [await cluster.list('Logical_Switch_Port'), await policies(cluster)];
    await until('all policies are there', async () => (await policies(cluster)).length === 8);
    const before = await rows();
    await cluster.central.nbctl(
      'lr-del',
      'ovn-cluster',
      '--',
      'ls-del',
      'join',
      '--',
      'ls-del',
      'ovn-default',
    );
    await waitFor(rows, before);
  }));

test('pods get addresses and ports, keep them under another leader, and give them back', () =>
  withCluster(async (cluster) => {
    const first = cluster.startController('a');
    for (const number of [1, 2]) await cluster.addNode(number);
    await cluster.apply('Subnet', 'blue', { cidrBlock: '10.17.0.0/24', namespaces: ['shop'] });
    await cluster.addPod('shop', 'web', { node: 'n1' });
    await cluster.addPod('other', 'db', { node: 'n2' });
    await cluster.addPod('shop', 'named', {
      ...{ node: 'n2', annotations: { 'ovn.kubernetes.io/ip_address': '10.17.0.100' } },
    });
    const ports = async () =>
      (await cluster.list('Logical_Switch_Port')).filter((name) => /\.(shop|other)$/.test(name));
    await waitFor(ports, ['db.other', 'named.shop', 'web.shop']);
    const addressOf = (namespace: string, name: string) => cluster.answerOf(namespace, name, 'ip_address');
    assert.equal(await addressOf('shop', 'web'), '10.17.0.2');
    assert.equal(await addressOf('shop', 'named'), '10.17.0.100');
    assert.equal(await addressOf('other', 'db'), '10.16.0.2');
    assert.equal(await cluster.answerOf('shop', 'web', 'logical_switch'), 'blue');
    const addresses = await cluster.central.nbctl('lsp-get-addresses', 'web.shop');
    assert.equal(addresses.trim(), `${await cluster.answerOf('shop', 'web', 'mac_address')} 10.17.0.2`);

    cluster.startController('b');
    await first.stop();
    await cluster.removePod('shop', 'web');
    await waitFor(ports, ['db.other', 'named.shop']);
    await waitFor(() => cluster.get('IP', 'web.shop'), undefined);
    // Another pod under the same name.
    await cluster.addPod('other', 'db', { uid: 'another', node: 'n1' });
    await waitFor(async () => (await cluster.get<IP>('IP', 'db.other'))?.spec.nodeName, 'n1');
    await waitFor(ports, ['db.other', 'named.shop']);
  }));

test('a thousand pods in ten subnets are in order', () =>
  withCluster(async (cluster) => {
    for (const number of [1, 2, 3]) await cluster.addNode(number);
    for (let part = 0; part < 10; part++) {
      const spec = { cidrBlock: `10.${30 + part}.0.0/16`, namespaces: [`ns-${part}`] };
      await cluster.apply('Subnet', `subnet-${part}`, spec);
      for (let pod = 0; pod < 100; pod++)
        await cluster.addPod(`ns-${part}`, `pod-${pod}`, { node: `n${1 + (pod % 3)}` });
    }
    cluster.startController('a');
    const countPorts = async () =>
      (await cluster.list('Logical_Switch_Port')).filter((name) => name.startsWith('pod-')).length;
    await waitFor(countPorts, 1_000);
    const { objects } = await cluster.source.list({ kinds: [{ apiVersion: 'kubeovn.io/v1', kind: 'IP' }] });
    const addresses = objects.map(({ object }) => (object as unknown as IP).spec.ipAddress);
    assert.equal(new Set(addresses).size, 1_003);
  }));
