/** Vpc, Vlan, ProviderNetwork and IP of Kube-OVN: what their schemas take, fill in and refuse, and how they are shown. */
import { describe, expect, test } from 'vitest';
import { findKind, readObjects, requireKind } from '../src/index.js';
import { type Fields, objectOf, problemsOf } from './support/kube-ovn.js';

const make = (kind: string, name: string, spec: Fields, status?: Fields) => ({
  apiVersion: 'kubeovn.io/v1',
  kind,
  metadata: { name },
  spec,
  ...(status !== undefined && { status }),
});

const vpc = (spec: Fields, status?: Fields) => make('Vpc', 'red', spec, status);
const routes = (...staticRoutes: readonly Fields[]) => vpc({ staticRoutes });
const vlan = (spec: Fields) => make('Vlan', 'vlan10', { provider: 'net1', ...spec });
const network = (spec: Fields, name = 'net1', status?: Fields) =>
  make('ProviderNetwork', name, { defaultInterface: 'eth0', ...spec }, status);
const custom = (...entries: readonly (readonly [string, readonly string[]])[]) =>
  network({ customInterfaces: entries.map(([link, nodes]) => ({ interface: link, nodes })) });
const ip = (spec: Fields, name = 'web.shop') =>
  make('IP', name, {
    podName: 'web',
    namespace: 'shop',
    subnet: 'ovn-default',
    nodeName: 'n1',
    ipAddress: '10.16.0.5',
    macAddress: '00:00:00:B8:58:AB',
    ...spec,
  });

describe('reading', () => {
  test.each<[string, unknown, Fields]>([
    ['a VPC without a word', { ...vpc({}), spec: undefined }, { namespaces: [], staticRoutes: [] }],
    [
      'a route',
      routes({ cidr: '0.0.0.0/0', nextHopIP: '10.0.1.254' }),
      { staticRoutes: [{ policy: 'policyDst', cidr: '0.0.0.0/0', nextHopIP: '10.0.1.254' }] },
    ],
    [
      'a route by the source, of an address',
      routes({ policy: 'policySrc', cidr: '10.0.1.5', nextHopIP: '10.0.1.254' }),
      { staticRoutes: [{ policy: 'policySrc', cidr: '10.0.1.5/32', nextHopIP: '10.0.1.254' }] },
    ],
    [
      'two next hops of one prefix',
      routes({ cidr: 'fd00::/64', nextHopIP: 'fd01::1' }, { cidr: 'fd00::/64', nextHopIP: 'fd01::2' }),
      {},
    ],
    ['a VLAN without a tag', vlan({}), { id: 0, provider: 'net1' }],
    ['the highest tag', vlan({ id: 4095 }), { id: 4095 }],
    ['a network', network({}), { defaultInterface: 'eth0', customInterfaces: [], excludeNodes: [] }],
    [
      'a network with interfaces of single nodes',
      network({ customInterfaces: [{ interface: 'bond0.100', nodes: ['n1', 'n2'] }], excludeNodes: ['n3'] }),
      { customInterfaces: [{ interface: 'bond0.100', nodes: ['n1', 'n2'] }], excludeNodes: ['n3'] },
    ],
    [
      'the address of a pod',
      ip({}),
      {
        ipAddress: '10.16.0.5',
        v4IpAddress: '10.16.0.5',
        v6IpAddress: '',
        containerID: '',
        attachIps: [],
        attachMacs: [],
        attachSubnets: [],
      },
    ],
    [
      'addresses of both families by themselves',
      ip({ ipAddress: undefined, v4IpAddress: '10.16.0.5', v6IpAddress: 'FD00::5' }),
      { ipAddress: '10.16.0.5,fd00::5', v4IpAddress: '10.16.0.5', v6IpAddress: 'fd00::5' },
    ],
    [
      'another interface of a pod',
      ip(
        { attachIps: ['10.9.0.5'], attachMacs: ['00:00:00:00:00:02'], attachSubnets: ['net'] },
        'web.shop.a.b.ovn',
      ),
      { attachIps: ['10.9.0.5'] },
    ],
    ['a node', ip({ podName: 'n1', namespace: '' }, 'node-n1'), { podName: 'n1', namespace: '' }],
  ])('takes %s', (_, value, spec) => {
    expect(objectOf(value).spec).toMatchObject(spec);
  });

  test('changes nothing in an object that is read again', () => {
    for (const value of [vpc({}, {}), vlan({}), network({}), ip({ ipAddress: '10.16.0.5,fd00::5' })]) {
      const object = objectOf(value);
      expect(objectOf(object)).toEqual(object);
    }
  });
});

const taken = 'is the bridge of';

describe('a schema', () => {
  test.each<[string, unknown, string]>([
    [
      'a next hop of the other family',
      routes({ cidr: '10.0.0.0/8', nextHopIP: 'fd00::1' }),
      'spec.staticRoutes[0].nextHopIP: must be of the same family as cidr',
    ],
    [
      'a route for no prefix',
      routes({ cidr: '10.0.0.0/33', nextHopIP: '10.0.0.1' }),
      'spec.staticRoutes[0].cidr: must be an address or a prefix: 10.0.0.1, 10.0.0.0/8 or fd00::/8',
    ],
    ['a route to nowhere', routes({ cidr: '10.0.0.0/8' }), 'spec.staticRoutes[0].nextHopIP: is missing'],
    [
      'a policy of routes',
      routes({ policy: 'policyDest', cidr: '10.0.0.0/8', nextHopIP: '10.0.0.1' }),
      'spec.staticRoutes[0].policy: must be policyDst or policySrc, is "policyDest" (did you mean policyDst?)',
    ],
    [
      'a route twice',
      routes(
        { cidr: '10.0.1.0/8', nextHopIP: '10.0.0.1' },
        { policy: 'policyDst', cidr: '10.0.0.0/8', nextHopIP: '10.0.0.1' },
      ),
      'spec.staticRoutes[1]: is the same route as staticRoutes[0]',
    ],
    ['a namespace twice', vpc({ namespaces: ['a', 'a'] }), 'spec.namespaces[1]: stands in the list already'],
    ['peers of VPCs', vpc({ vpcPeerings: [] }), 'spec.vpcPeerings: unknown field'],
    ['a tag of 13 bits', vlan({ id: 4096 }), 'spec.id: must be at most 4095, is 4096'],
    ['a negative tag', vlan({ id: -1 }), 'spec.id: must be at least 0, is -1'],
    ['a tag as text', vlan({ id: '10' }), 'spec.id: must be a number, is "10"'],
    ['a VLAN of no network', vlan({ provider: undefined }), 'spec.provider: is missing'],
    [
      'a network whose bridge would have 16 characters',
      network({}, 'provider-netw'),
      'metadata.name: must be made of small letters, digits, - and . (at most 12), with a letter or digit at both ends',
    ],
    ['the network int', network({}, 'int'), `metadata.name: must not be int: br-int ${taken} OVN itself`],
    [
      'the network external',
      network({}, 'external'),
      `metadata.name: must not be external: br-external ${taken} gateways to the outside`,
    ],
    [
      'an interface of 16 characters',
      network({ defaultInterface: 'enp1s0f0np0v1234' }),
      'spec.defaultInterface: must be the name of an interface: at most 15 characters without blanks, / and :',
    ],
    [
      'an interface that is a path',
      network({ defaultInterface: '../eth0' }),
      'spec.defaultInterface: must be the name of an interface: at most 15 characters without blanks, / and :',
    ],
    [
      'its own bridge as its interface',
      network({ defaultInterface: 'br-net1' }),
      'spec.defaultInterface: must not be br-net1, the bridge that the network makes',
    ],
    [
      'its own bridge as the interface of a node',
      custom(['br-net1', ['n1']]),
      'spec.customInterfaces[0].interface: must not be br-net1, the bridge that the network makes',
    ],
    [
      'a node with two interfaces',
      custom(['eth1', ['n1', 'n2']], ['eth2', ['n3', 'n2']]),
      'spec.customInterfaces[1].nodes[1]: must not be n2, whose interface is in customInterfaces[0]',
    ],
    [
      'a node twice',
      custom(['eth1', ['n1', 'n1']]),
      'spec.customInterfaces[0].nodes[1]: stands in the list already',
    ],
    [
      'an interface of no node',
      custom(['eth1', []]),
      'spec.customInterfaces[0].nodes: must have one entry at least',
    ],
    ['links that change names', network({ exchangeLinkName: true }), 'spec.exchangeLinkName: unknown field'],
    ['no address', ip({ ipAddress: undefined }), 'spec.ipAddress: is missing'],
    [
      'an address of IPv6 as one of IPv4',
      ip({ ipAddress: undefined, v4IpAddress: 'fd00::5' }),
      'spec.v4IpAddress: must be one address of IPv4',
    ],
    [
      'two different addresses of IPv4',
      ip({ v4IpAddress: '10.16.0.6' }),
      'spec.v4IpAddress: must be the address of IPv4 in ipAddress, 10.16.0.5',
    ],
    [
      'a MAC address of a group',
      ip({ macAddress: '01:00:5e:00:00:01' }),
      'spec.macAddress: must be the MAC address of an interface: 00:00:00:b8:58:ab',
    ],
    [
      'lists of different lengths',
      ip({ attachIps: ['10.9.0.5'], attachMacs: ['00:00:00:00:00:02'] }),
      'spec.attachSubnets: must have as many entries as attachIps, 1; has 0',
    ],
    [
      'the name of another pod',
      ip({}, 'web.shopping'),
      'metadata.name: must be web.shop or web.shop.PROVIDER, from podName and namespace',
    ],
    [
      'the name of another node',
      ip({ podName: 'n1', namespace: '' }, 'node-n2'),
      'metadata.name: must be node-n1, from podName and namespace',
    ],
    [
      'a status of no number',
      network({}, 'net1', { ready: 'yes' }),
      'status.ready: must be true or false, is "yes"',
    ],
  ])('refuses %s', (_, value, problem) => {
    expect(problemsOf(value)).toEqual([problem]);
  });
});

describe('status', () => {
  const status = { ready: true, readyNodes: ['n1'] };

  test('is read of what a controller has written, with its defaults', () => {
    expect(objectOf(network({}, 'net1', status)).status).toEqual({
      ready: true,
      readyNodes: ['n1'],
      notReadyNodes: [],
      vlans: [],
      conditions: [],
    });
  });

  test('is taken away from what people have written, whatever it says', () => {
    const text = JSON.stringify(network({}, 'net1', { ...status, ofANewerVersion: 1 }));
    const { objects, problems } = readObjects(text, 'net.json');
    expect(problems).toEqual([]);
    expect(objects[0]!.object).not.toHaveProperty('status');
  });

  test('is taken away from kinds without one', () => {
    const value = {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'a' },
      status: { phase: 'Active' },
    };
    expect(objectOf(value)).not.toHaveProperty('status');
  });
});

test('finalizers of an exported object are taken away', () => {
  const exported = { ...vlan({}), metadata: { name: 'vlan10', finalizers: ['kube-ovn-controller'] } };
  expect(objectOf(exported).metadata).toEqual({ name: 'vlan10' });
});

test.each([
  ['provider-network', 'ProviderNetwork'],
  ['provider-networks.kubeovn.io', 'ProviderNetwork'],
  ['subnet', 'Subnet'],
  ['ips', 'IP'],
])('the word %s is %s', (word, kind) => {
  expect(requireKind(word).kind).toBe(kind);
});

/** Columns beside the name. */
function showColumns(value: unknown): (readonly [string, string])[] {
  const object = objectOf(value);
  return findKind(object)!.columns.map(({ title, show }) => [title, show(object)] as const);
}

test('the columns are those of kubectl get', () => {
  expect(showColumns(vpc({ namespaces: ['a'] }))).toEqual([
    ['STANDBY', ''],
    ['SUBNETS', ''],
    ['NAMESPACES', '["a"]'],
  ]);
  expect(showColumns(vpc({}, { standby: true, subnets: ['s1', 's2'] }))).toEqual([
    ['STANDBY', 'true'],
    ['SUBNETS', '["s1","s2"]'],
    ['NAMESPACES', ''],
  ]);
  expect(showColumns(vlan({ id: 10 }))).toEqual([
    ['ID', '10'],
    ['PROVIDER', 'net1'],
  ]);
  expect(showColumns(network({}, 'net1', { ready: false }))).toEqual([
    ['DEFAULTINTERFACE', 'eth0'],
    ['READY', 'false'],
  ]);
  expect(showColumns(ip({ ipAddress: '10.16.0.5,fd00::5' }))).toEqual([
    ['V4IP', '10.16.0.5'],
    ['V6IP', 'fd00::5'],
    ['MAC', '00:00:00:B8:58:AB'],
    ['NODE', 'n1'],
    ['SUBNET', 'ovn-default'],
  ]);
});
