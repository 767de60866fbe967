/** The bridge of a provider network on a node, from the object that names the interface. */
import type { NodeView } from '@podwire/network-contract';
import type { Read } from '@podwire/planner';
import { expect, test } from 'vitest';
import { createOvnModel } from '../src/index.js';
import type { ProviderFact } from '../src/objects.js';
import { optionsSchema } from '../src/options.js';

const model = createOvnModel();
const scopes = model.scopes!.find(({ kind }) => kind === 'ovn-provider')!;
const objects = model.objects!.find(({ kind }) => kind === 'ProviderNetwork')!;

const viewOf = (options: object = {}, more: Partial<NodeView> = {}): NodeView => ({
  ...{ name: 'one', blocks: [], mtu: 1400, ipv4: true, ipv6: true },
  network: { name: 'default', model: 'ovn', pools: [], options: optionsSchema.parse(options) },
  ...more,
});

const network: ProviderFact = {
  interface: 'eth1',
  custom: [
    { interface: 'eth2', nodes: ['two', 'three'] },
    { interface: 'eth3', nodes: ['four'] },
  ],
  created: 1000,
};

const factsOf = (view: NodeView = viewOf()) => ({
  'sides-for-peers': [{ model, view }],
  'ovn-provider-networks': new Set(['net1']),
  'ovn-provider-network/net1': network,
  'host-link/eth1': { mac: '02:00:00:00:00:01', mtu: 1500 },
  'host-link/eth2': { mac: '02:00:00:00:00:02', mtu: 1500 },
});

const readOf =
  (known: object): Read =>
  (name) =>
    (known as Readonly<Record<string, unknown>>)[name] as never;

const plan = (known: object = factsOf()) => scopes.plan('net1', readOf(known));

test('the interface is a port of the bridge, and the bridge has its MAC address and what was on it', () => {
  expect([...scopes.list(readOf(factsOf()))]).toEqual(['net1']);
  const externalIds = { vendor: 'kube-ovn' };
  expect(plan()).toEqual([
    { kind: 'ovs-bridge', name: 'br-net1', otherConfig: { hwaddr: '02:00:00:00:00:01' }, externalIds },
    { kind: 'ovs-port-ready', port: 'br-net1', isLink: true },
    { kind: 'sysctl', in: 'host', key: 'net/ipv6/conf/br-net1/disable_ipv6', value: '0' },
    { kind: 'link-up', in: 'host', link: 'eth1' },
    { kind: 'link-up', in: 'host', link: 'br-net1' },
    {
      ...{ kind: 'ovs-port', name: 'eth1', bridge: 'br-net1', externalIds },
      interfaces: [{ name: 'eth1', externalIds }],
    },
    { kind: 'ovs-port-ready', port: 'eth1' },
    { kind: 'uplink-moved', in: 'host', from: 'eth1', to: 'br-net1', after: ['ovs-port-ready eth1'] },
    { kind: 'ovs-setting-entry', key: 'ovn-bridge-mappings', name: 'net1', value: 'br-net1' },
  ]);
});

test('a node without the module of the kernel has the bridge in user space, and hears each packet once', () => {
  const planned = plan(factsOf(viewOf({ datapath: 'netdev' })));
  expect(planned).toContainEqual(expect.objectContaining({ kind: 'ovs-bridge', datapathType: 'netdev' }));
  expect(JSON.stringify(planned)).toContain(String.raw`iifname \"eth1\" drop`);
});

test('a node without IPv6 switches nothing of it', () => {
  expect(plan(factsOf(viewOf({}, { ipv6: false })))).not.toContainEqual(
    expect.objectContaining({ kind: 'sysctl' }),
  );
});

test('nodes that customInterfaces names have another interface', () => {
  expect(plan(factsOf(viewOf({}, { name: 'two' })))).toContainEqual(
    expect.objectContaining({ kind: 'uplink-moved', from: 'eth2' }),
  );
});

test('an interface that the node does not have is said by its name, and nothing is planned', () => {
  expect(() => plan(factsOf(viewOf({}, { name: 'four' })))).toThrow(
    'provider network net1: this node has no interface eth3',
  );
});

test('there is nothing on a node without the network, or without a network of the model', () => {
  expect(plan({ ...factsOf(), 'ovn-provider-network/net1': undefined })).toBeUndefined();
  const elsewhere = { ...factsOf(), 'sides-for-peers': [] };
  expect([plan(elsewhere), [...scopes.list(readOf(elsewhere))]]).toEqual([undefined, []]);
});

test('an object is for all nodes but those that it excludes', () => {
  const spec = { defaultInterface: 'eth1', customInterfaces: network.custom, excludeNodes: ['five'] };
  const object = { spec } as never;
  expect(['one', 'five'].map((node) => objects.isOfNode?.(object, node))).toEqual([true, false]);
  expect(objects.read(object, 1000)).toEqual(network);
});

const refused = model.scopes!.find(({ kind }) => kind === 'ovn-provider-refused')!;

/** @param others beside net1, which was made at 1000 */
const claimsOf = (others: Readonly<Record<string, Partial<ProviderFact>>>, view: NodeView = viewOf()) => {
  const plain: ProviderFact = { interface: 'eth1', custom: [], created: 2000 };
  const facts = Object.entries(others).map(([name, fact]) => [
    `ovn-provider-network/${name}`,
    { ...plain, ...fact },
  ]);
  const names = new Set(['net1', ...Object.keys(others)]);
  const known = {
    ...factsOf(view),
    ...(Object.fromEntries(facts) as object),
    'ovn-provider-networks': names,
  };
  const read = readOf(known);
  return { read, held: [...scopes.list(read)].sort(), lost: [...refused.list(read)].sort() };
};

test('the older one of two networks has the interface that both name, and the younger one has nothing', () => {
  const { read, held, lost } = claimsOf({ net0: {}, net2: { interface: 'eth2' } });
  expect([held, lost]).toEqual([['net1', 'net2'], ['net0']]);
  expect(() => refused.plan('net0', read)).toThrow(
    'provider network net0: eth1 is the interface of provider network net1 on this node, which is older',
  );
});

test('of two networks of one age, and of a fact without one, the first by name has the interface', () => {
  expect(claimsOf({ net0: { created: 1000 } }).held).toEqual(['net0']);
  expect(claimsOf({ net2: { created: 1000 } }).held).toEqual(['net1']);
  const { created: _, ...aged } = network;
  const read = readOf({ ...factsOf(), 'ovn-provider-network/net1': aged });
  expect([...scopes.list(read)]).toEqual(['net1']);
});

test('networks that name an interface on other nodes are not in the way', () => {
  expect(claimsOf({ net0: {} }, viewOf({}, { name: 'two' }))).toMatchObject({
    ...{ held: ['net0', 'net1'], lost: [] },
  });
  const custom = [{ interface: 'eth2', nodes: ['two'] }];
  expect(claimsOf({ net0: { interface: 'eth5', custom } }, viewOf({}, { name: 'two' })).lost).toEqual([
    'net0',
  ]);
});

test('a network that has its interface by now is refused no more', () => {
  const { read } = claimsOf({ net0: { interface: 'eth2' } });
  expect(refused.plan('net0', read)).toBeUndefined();
});
