/** Objects of Kube-OVN on a cluster in memory: the commands find their kinds by the registry alone, and keep what a controller says. */
import { createStoreSource, type Subnet } from '@podwire/objects';
import { systemClock } from '@podwire/platform';
import { expect, test } from 'vitest';
import { writeTemporary } from '../support.js';
import { createCluster } from './cluster.js';

const subnet = `apiVersion: kubeovn.io/v1
kind: Subnet
metadata:
  name: shop
  finalizers: [kube-ovn-controller]
spec:
  cidrBlock: 10.66.0.0/16
  vlan: vlan10
  namespaces: [shop]
  excludeIps: [10.66.0.2..10.66.0.9]
status:
  v4usingIPs: 999
`;
const vlan = `apiVersion: kubeovn.io/v1
kind: Vlan
metadata:
  name: vlan10
spec:
  id: 10
  provider: net1
`;
const network = `apiVersion: kubeovn.io/v1
kind: ProviderNetwork
metadata:
  name: net1
spec:
  defaultInterface: eth0
  customInterfaces:
    - interface: enp1s0
      nodes: [node1]
  excludeNodes: [node2]
`;

const subnetReference = { apiVersion: 'kubeovn.io/v1', kind: 'Subnet', name: 'shop' };

test('applies a file in order, and shows the tables of kubectl', async () => {
  const { podwire, advance } = createCluster();
  const file = writeTemporary('ovn.yaml', [subnet, vlan, network].join('---\n'));
  const { stdout, stderr } = await podwire(`apply -f ${file}`);
  expect(stderr).toBe('');
  expect(stdout.split('\n')).toEqual([
    'provider-networks/net1 created',
    'vlans/vlan10 created',
    'subnets/shop created',
    '',
  ]);
  advance(3_000);
  expect((await podwire('get provider-network')).stdout.split('\n')).toEqual([
    'NAME   DEFAULTINTERFACE   READY   AGE',
    'net1   eth0                       3s',
    '',
  ]);
  expect((await podwire('get subnets.kubeovn.io')).stdout.replaceAll(/ {2,}/g, ' ').split('\n')).toEqual([
    'NAME PROVIDER VPC VLAN PROTOCOL CIDR PRIVATE NAT DEFAULT GATEWAYTYPE V4USED V4AVAILABLE V6USED V6AVAILABLE EXCLUDEIPS AGE',
    'shop ovn ovn-cluster vlan10 IPv4 10.66.0.0/16 false false false distributed ["10.66.0.1..10.66.0.9"] 3s',
    '',
  ]);
});

test('keeps the status that a controller has written, and takes none of a file', async () => {
  const { podwire, store } = createCluster();
  await podwire(`apply -f ${writeTemporary('subnet.yaml', subnet)}`);
  const source = createStoreSource({ store, root: '/podwire', clock: systemClock });
  const read = async () => (await source.get(subnetReference))!.object as Subnet;
  const before = await read();
  expect(before.status).toBeUndefined();
  const status = {
    v4usingIPs: 2,
    v4availableIPs: 65_523,
    v6usingIPs: 0,
    v6availableIPs: 0,
    activateGateway: '',
    conditions: [],
  };
  await source.save({ ...before, status } as Subnet, undefined);
  const changed = writeTemporary('changed.yaml', subnet.replace('[shop]', '[shop, bank]'));
  expect((await podwire(`apply -f ${changed}`)).stdout).toBe('subnets/shop configured\n');
  expect(await read()).toMatchObject({ status, spec: { namespaces: ['shop', 'bank'] } });
  const yaml = (await podwire('get subnet shop -o yaml')).stdout;
  expect(yaml).toContain('v4usingIPs: 2');
  expect((await podwire(`diff -f ${writeTemporary('again.yaml', yaml)}`)).stdout).toBe('');
});

test('refuses all of a file for one fault, with file, line and field', async () => {
  const { podwire, store } = createCluster();
  const file = writeTemporary(
    'ovn.yaml',
    [subnet.replace('10.66.0.0/16', '10.66.1.0/16'), vlan.replace('id: 10', 'id: 4096')].join('---\n'),
  );
  const { code, stderr } = await podwire(`apply -f ${file}`);
  expect(code).toBe(1);
  expect(stderr.split('\n').slice(0, 2)).toEqual([
    `error: ${file}:7: spec.cidrBlock: has bits set beyond its length; write 10.66.0.0/16`,
    `       ${file}:19: spec.id: must be at most 4095, is 4096`,
  ]);
  expect((await store.list('/podwire/objects/')).items).toEqual([]);
});

test('explains and deletes', async () => {
  const { podwire } = createCluster();
  await podwire(`apply -f ${writeTemporary('network.yaml', network)}`);
  expect((await podwire('explain subnet.spec')).stdout).toContain('excludeIps');
  expect((await podwire('delete provider-network net1')).stdout).toBe('provider-networks/net1 deleted\n');
});

test('refuses a network whose interface another one has on the same node, and writes nothing of its file', async () => {
  const { podwire } = createCluster();
  await podwire(`apply -f ${writeTemporary('first.yaml', network)}`);
  const vlanOfSecond = vlan.replace('vlan10', 'vlan20');
  const second = network.replace('net1', 'net2').replace('eth0', 'eth9');
  const both = writeTemporary('both.yaml', [vlanOfSecond, second].join('---\n'));
  const { code, stderr } = await podwire(`apply -f ${both}`);
  expect(code).not.toBe(0);
  expect(stderr).toContain(
    'ProviderNetwork net2: enp1s0 is the interface of ProviderNetwork net1 on the node node1 already',
  );
  expect((await podwire('get vlans')).stdout).not.toContain('vlan20');
  const moved = writeTemporary('moved.yaml', second.replace('enp1s0', 'enp2s0'));
  expect((await podwire(`apply -f ${moved}`)).stdout).toBe('provider-networks/net2 created\n');
});
