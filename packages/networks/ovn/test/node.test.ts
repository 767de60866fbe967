/** The node's end of the subnet `join` and its gateway, from the objects that a controller has written. */
import type { NodeView } from '@podwire/network-contract';
import type { Read } from '@podwire/planner';
import { expect, test } from 'vitest';
import { createOvnModel } from '../src/index.js';
import type { SubnetFact } from '../src/objects.js';
import { optionsSchema } from '../src/options.js';

const model = createOvnModel();
const [scopes, mirrors] = model.scopes!;

const view: NodeView = {
  ...{ name: 'one', blocks: [], mtu: 1400, ipv4: true, ipv6: true },
  network: { name: 'default', model: 'ovn', pools: [], options: optionsSchema.parse({}) },
  underlay: { link: 'eth0', mtu: 1500, ipv4: '192.0.2.1/24', ipv6: '2001:db8::1/64' },
};

const subnetOf = (cidr: string, gateway: string, exit?: SubnetFact['exit']): SubnetFact => ({
  ranges: [{ cidr, length: Number(cidr.split('/')[1]), gateway }],
  checksGateway: true,
  ...(exit === undefined ? {} : { exit }),
});

const facts = {
  'sides-for-peers': [{ model, view }],
  'ovn-ip/node-one': { subnet: 'join', addresses: ['100.64.0.2'], mac: '00:00:00:01:02:03' },
  'ovn-node-subnets': new Set(['join', 'ovn-default', 'red']),
  'ovn-node-subnet/join': subnetOf('100.64.0.0/16', '100.64.0.1', { through: 'distributed' }),
  'ovn-node-subnet/ovn-default': subnetOf('10.16.0.0/16', '10.16.0.1', {
    ...{ through: 'distributed', outgoing: 'nat' },
  }),
  'ovn-node-subnet/red': subnetOf('10.99.0.0/24', '10.99.0.1'),
};

const readOf =
  (known: Readonly<Record<string, unknown>>): Read =>
  (name) =>
    known[name] as never;

const plan = (known: object = facts) =>
  scopes!.plan('node', readOf({ ...known })) as readonly { kind: string }[];

test.each([
  ['without a network of the model', { 'sides-for-peers': [] }],
  ['without addresses of its own', { 'ovn-ip/node-one': undefined }],
  ['while its subnet is not known', { 'ovn-node-subnet/join': undefined }],
])('there is no gateway %s', (_, more) => {
  expect([...scopes!.list(readOf({ ...facts, ...more }))]).toEqual([]);
  expect(plan({ ...facts, ...more })).toEqual([]);
});

test('the node has a port of the bridge with its end of the subnet join', () => {
  expect([...scopes!.list(readOf(facts))]).toEqual(['node']);
  const resources = plan();
  expect(resources).toContainEqual({
    ...{ kind: 'ovs-port', name: 'ovn0', bridge: 'br-int' },
    interfaces: [
      {
        ...{ name: 'ovn0', type: 'internal', mac: '00:00:00:01:02:03', mtuRequest: 1400 },
        externalIds: { 'iface-id': 'node-one', ip: '100.64.0.2' },
      },
    ],
  });
  expect(resources).toContainEqual({ kind: 'address', in: 'host', link: 'ovn0', address: '100.64.0.2/16' });
});

test('the port of a node has the rates of its IP object', () => {
  const ip = { ...facts['ovn-ip/node-one'], rates: { ingressRate: 3_000_000, egressRate: 1_000_000 } };
  const limited = plan({ ...facts, 'ovn-ip/node-one': ip });
  expect(limited).toContainEqual(
    expect.objectContaining({ kind: 'ovs-qos', name: 'ovn0', otherConfig: { 'max-rate': '3000000' } }),
  );
  expect(limited.find(({ kind }) => kind === 'ovs-port')).toMatchObject({
    ...{ name: 'ovn0', qos: 'ovn0' },
    interfaces: [{ ingressPolicingRate: 1_000, ingressPolicingBurst: 800 }],
  });
});

test('routes lead to subnets of the cluster, and to none of another VPC', () => {
  const routes = plan().filter(({ kind }) => kind === 'route');
  expect(routes).toEqual([
    { kind: 'route', in: 'host', destination: '10.16.0.0/16', gateway: '100.64.0.1', link: 'ovn0' },
  ]);
});

test('a node forwards the families that it has in the subnet join', () => {
  const keys = plan().flatMap((resource) =>
    'key' in resource && resource.kind === 'sysctl' ? [resource.key] : [],
  );
  expect(keys).toEqual(['net/ipv4/ip_forward', 'net/ipv4/conf/default/forwarding']);
});

const planMirror = (options: object) => {
  const side = {
    model,
    view: { ...view, network: { ...view.network, options: optionsSchema.parse(options) } },
  };
  return mirrors!.plan('node', readOf({ 'sides-for-peers': [side] })) as readonly { kind: string }[];
};

test.each([
  ['selects no packets by itself', {}, false],
  ['selects all packets where the network says so', { mirror: true }, true],
])('the mirror of a node %s', (_, options, selectAll) => {
  const planned = planMirror(options);
  expect(planned).toContainEqual({
    ...{ kind: 'ovs-mirror', name: 'm0', bridge: 'br-int', outputPort: 'mirror0', selectAll },
  });
  expect(planned).toContainEqual({ kind: 'link-up', in: 'host', link: 'mirror0' });
});

test('a node without a network of the model has no mirror, and one without addresses has', () => {
  expect([...mirrors!.list(readOf({ 'sides-for-peers': [] }))]).toEqual([]);
  expect([...mirrors!.list(readOf({ 'sides-for-peers': [{ model, view }] }))]).toEqual(['node']);
});
