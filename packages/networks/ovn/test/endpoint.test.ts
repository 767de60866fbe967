/** Plans of pods, from the objects that a controller has written. */
import type { Endpoint, NodeView, PodIdentity } from '@podwire/network-contract';
import type { Read } from '@podwire/planner';
import { expect, test } from 'vitest';
import { createOvnModel, type LogicalPort } from '../src/index.js';
import { optionsSchema } from '../src/options.js';

const model = createOvnModel();

const network = {
  name: 'default',
  model: 'ovn',
  pools: [],
  options: optionsSchema.parse({ datapath: 'netdev' }),
};
const node: NodeView = {
  ...{ name: 'one', network, blocks: [], mtu: 1400, ipv4: true, ipv6: true },
};
const pod: PodIdentity = { namespace: 'shop', name: 'web', uid: 'u1' };

const ranges = [
  { cidr: '10.16.0.0/16', length: 16, gateway: '10.16.0.1' },
  { cidr: 'fd00:10:16::/112', length: 112, gateway: 'fd00:10:16::1' },
];
const onLink = ranges.map(({ length, gateway }) => ({ length, gateway }));
const addresses = ['10.16.0.5', 'fd00:10:16::5'];
const ip = { subnet: 'ovn-default', addresses, mac: '00:00:00:11:22:33', podUid: 'u1' };

/** Facts by their names. */
const readOf =
  (facts: Readonly<Record<string, unknown>>): Read =>
  (name) =>
    facts[name] as never;

const facts = { 'ovn-ip/web.shop': ip, 'ovn-node-subnet/ovn-default': { ranges, checksGateway: true } };
const attachment = model.resolve!(pod, network, readOf(facts));

const endpointOf = (more: Partial<Endpoint> = {}): Endpoint => ({
  id: { containerId: 'c1', ifName: 'eth0', network: 'default' },
  ...{
    pod,
    leases: [],
    mac: '02:00:00:00:00:01',
    portMappings: [],
    attachment,
    netns: '/run/netns/a',
    ...more,
  },
});

const listKind = (kind: string, endpoint = endpointOf()) =>
  model.planEndpoint(endpoint, node).resources.filter((resource) => resource.kind === kind);

test('a pod has the logical port that its IP object names, with the lengths and gateways of its subnet', () => {
  expect(attachment.port).toEqual({
    ...{ name: 'web.shop', subnet: 'ovn-default', mac: ip.mac, checksGateway: true },
    addresses: [
      { address: '10.16.0.5', ...onLink[0] },
      { address: 'fd00:10:16::5', ...onLink[1] },
    ],
  });
  expect(model.assigned!.of(attachment)).toEqual(
    addresses.map((address) => ({ address, pool: 'ovn-default' })),
  );
});

test.each([
  ['it has no IP object', {}],
  [
    'the IP object is that of another pod under its name',
    { ...facts, 'ovn-ip/web.shop': { ...ip, podUid: 'u0' } },
  ],
  ['its subnet is not known', { 'ovn-ip/web.shop': ip }],
])('a pod is not allocated while %s', (_, known) => {
  expect(() => model.resolve!(pod, network, readOf(known))).toThrow(
    'no address allocated to pod shop/web yet',
  );
});

test.each(['namespace', 'name', 'uid'] as const)('a pod without %s is refused', (field) => {
  const { [field]: _, ...rest } = pod;
  expect(() => model.resolve!(rest, network, readOf(facts))).toThrow('K8S_POD_UID must be given');
});

test('the interface of a pod has the ids by which ovn-controller and people find it', () => {
  const [port] = listKind('ovs-port');
  expect(port).toMatchObject({
    bridge: 'br-int',
    interfaces: [
      {
        externalIds: {
          ...{ 'iface-id': 'web.shop', pod_name: 'web', pod_namespace: 'shop' },
          ...{ ip: addresses.join(','), pod_netns: '/run/netns/a' },
        },
      },
    ],
  });
});

test('a pod has its addresses with the length of the subnet, and default routes of both families', () => {
  expect(listKind('address')).toEqual(
    ['10.16.0.5/16', 'fd00:10:16::5/112'].map((address) => ({
      kind: 'address',
      in: 'pod',
      link: 'eth0',
      address,
    })),
  );
  const { routes, gateways, links, mtu } = model.planEndpoint(endpointOf(), node);
  expect(routes).toEqual([
    { dst: '0.0.0.0/0', gw: '10.16.0.1' },
    { dst: '::/0', gw: 'fd00:10:16::1' },
  ]);
  expect([gateways, mtu]).toEqual([['10.16.0.1', 'fd00:10:16::1'], 1400]);
  expect(links).toMatchObject([
    { side: 'host', mac: 'fe:00:00:11:22:33' },
    { side: 'pod', name: 'eth0', mac: ip.mac },
  ]);
});

test('a pod is added when its flows are there and its gateways answer', () => {
  expect(listKind('ovs-port-installed')).toHaveLength(1);
  expect(listKind('neighbour-answers')).toMatchObject([
    { address: '10.16.0.1' },
    { address: 'fd00:10:16::1' },
  ]);
  const unchecked = endpointOf({ attachment: { port: { ...attachment.port!, checksGateway: false } } });
  expect(listKind('neighbour-answers', unchecked)).toEqual([]);
});

test('a pod has the MTU of its subnet, or that of the network', () => {
  const small = endpointOf({ attachment: { port: { ...attachment.port!, mtu: 1300 } } });
  expect(model.planEndpoint(small, node).mtu).toBe(1300);
  expect(listKind('veth', small)).toMatchObject([{ mtu: 1300 }]);
  expect(ofSubnet({ mtu: 1300 })).toHaveProperty('mtu', 1300);
});

test('a further interface has no default route', () => {
  const second = endpointOf({ id: { containerId: 'c1', ifName: 'net1', network: 'default' } });
  expect([model.planEndpoint(second, node).routes, listKind('route', second)]).toEqual([[], []]);
});

test('checksums are completed where the switch is in user space alone', () => {
  expect(listKind('link-feature')).toHaveLength(1);
  const view = { ...node, network: { ...network, options: optionsSchema.parse({}) } };
  const { resources } = model.planEndpoint(endpointOf(), view);
  expect(resources.filter(({ kind }) => kind === 'link-feature')).toEqual([]);
});

test('another MAC address than that of the logical port is refused', () => {
  expect(() => model.planEndpoint(endpointOf({ requestedMac: '00:00:00:11:22:34' }), node)).toThrow(
    'the logical port web.shop has 00:00:00:11:22:33',
  );
});

const withRates = (rates: LogicalPort['rates'], more: Partial<Endpoint> = {}) =>
  endpointOf({ attachment: { port: { ...attachment.port!, ...(rates && { rates }) } }, ...more });

test('rates of the IP object are those of the port, and the switch sees the other direction', () => {
  expect(listKind('ovs-qos', withRates({ ingressRate: 3_000_000 }))).toMatchObject([
    { otherConfig: { 'max-rate': '3000000' } },
  ]);
  expect(listKind('ovs-port', withRates({ egressRate: 1_000_000 }))).toMatchObject([
    { interfaces: [{ ingressPolicingRate: 1000, ingressPolicingBurst: 800 }] },
  ]);
});

test('rates of the IP object come before those of the runtime, and 0 is none', () => {
  const bandwidth = { ingressRate: 7, egressRate: 2_000_000 };
  const both = withRates({ ingressRate: 3_000_000 }, { bandwidth });
  expect(listKind('ovs-qos', both)).toMatchObject([{ otherConfig: { 'max-rate': '3000000' } }]);
  expect(listKind('ovs-port', both)).toMatchObject([{ interfaces: [{ ingressPolicingRate: 2000 }] }]);
  expect(listKind('ovs-qos', withRates({ ingressRate: 0 }, { bandwidth }))).toEqual([]);
});

test('a pod asks for the rates of its runtime where it has no annotation, and for no rate that is none', () => {
  const asked = { annotations: { 'ovn.kubernetes.io/ingress_rate': '3' }, addresses: [] };
  const bandwidth = { ingressRate: 7_000_000, egressRate: 2_500_000, egressBurst: 9 };
  expect(model.assigned!.ask({ ...asked, bandwidth })).toEqual({
    ...{ 'ovn.kubernetes.io/ingress_rate': '3', 'ovn.kubernetes.io/egress_rate': '2.5' },
  });
  const wrong = { annotations: { 'ovn.kubernetes.io/egress_rate': '-1' }, addresses: [] };
  expect(() => model.assigned!.ask(wrong)).toThrow(
    'annotation ovn.kubernetes.io/egress_rate: "-1" is not a rate in Mbit/s',
  );
});

test('a pod asks by the annotations of Kube-OVN, and cannot give itself an answer', () => {
  const annotations = {
    'ovn.kubernetes.io/logical_switch': 'blue',
    'ovn.kubernetes.io/allocated': 'true',
    'ovn.kubernetes.io/routed': 'true',
    'example.com/other': 'x',
  };
  const asked = { annotations, addresses: ['10.17.0.7'], mac: '00:00:00:11:22:33' };
  expect(model.assigned!.ask(asked)).toEqual({
    'ovn.kubernetes.io/logical_switch': 'blue',
    'ovn.kubernetes.io/ip_address': '10.17.0.7',
    'ovn.kubernetes.io/mac_address': '00:00:00:11:22:33',
  });
});

test('a pod asks for what it has by the same annotations', () => {
  expect(model.assigned!.askFor(attachment)).toEqual({
    'ovn.kubernetes.io/logical_switch': 'ovn-default',
    'ovn.kubernetes.io/ip_address': '10.16.0.5,fd00:10:16::5',
    'ovn.kubernetes.io/mac_address': ip.mac,
  });
  const { attachment: limited } = withRates({ ingressRate: 0, egressRate: 1_500_000 });
  expect(model.assigned!.askFor(limited!)).toMatchObject({
    ...{ 'ovn.kubernetes.io/ingress_rate': '0', 'ovn.kubernetes.io/egress_rate': '1.5' },
  });
});

test('a pod whose IP object asks for it is in the mirror of its node, which is there before', () => {
  const read = readOf({ ...facts, 'ovn-ip/web.shop': { ...ip, isMirrored: true } });
  const mirrored = model.resolve!(pod, network, read);
  const endpoint = endpointOf({ attachment: mirrored });
  expect(listKind('ovs-port', endpoint)).toMatchObject([{ mirrors: ['m0'] }]);
  expect(model.planEndpoint(endpoint, node).needs).toEqual(['ovn-mirror/node']);
  expect(model.assigned!.askFor(mirrored)).toMatchObject({ 'ovn.kubernetes.io/mirror': 'true' });
  expect(listKind('ovs-port')[0]).not.toHaveProperty('mirrors');
  expect(model.planEndpoint(endpointOf(), node)).not.toHaveProperty('needs');
});

test('the logical port of a pod has the rates of its IP object', () => {
  const rates = { ingressRate: 3_000_000 };
  const read = readOf({ ...facts, 'ovn-ip/web.shop': { ...ip, rates } });
  expect(model.resolve!(pod, network, read).port).toMatchObject({ rates });
  expect(attachment.port).not.toHaveProperty('rates');
});

test.each([
  ['geneve', 1400],
  ['vxlan', 1450],
] as const)('packets of pods fit into a tunnel of %s', (encapsulation, mtu) => {
  const view = { ...network, options: optionsSchema.parse({ encapsulation }) };
  expect(model.podMtu({ network: view, underlay: { link: 'eth0', mtu: 1500 }, mtu: 0 })).toBe(mtu);
});

const objectOf = (fact: string) => model.objects!.find((each) => each.fact === fact)!;

test('an IP object is a fact of the node that it names', () => {
  const { read, isOfNode } = objectOf('ovn-ip');
  const object = {
    metadata: { annotations: { 'podwire/pod-uid': 'u1' } },
    spec: { subnet: 'ovn-default', ipAddress: addresses.join(','), macAddress: ip.mac, nodeName: 'one' },
  };
  expect(read(object as never, 0)).toEqual(ip);
  const annotations = { 'podwire/pod-uid': 'u1', 'ovn.kubernetes.io/egress_rate': '2' };
  const rates = { egressRate: 2_000_000 };
  expect(read({ ...object, metadata: { annotations } } as never, 0)).toEqual({ ...ip, rates });
  const mirrored = { ...annotations, 'ovn.kubernetes.io/mirror': 'true' };
  expect(read({ ...object, metadata: { annotations: mirrored } } as never, 0)).toMatchObject({
    isMirrored: true,
  });
  const isOf = (node: string) => isOfNode!(object as never, node);
  expect([isOf('one'), isOf('two')]).toEqual([true, false]);
});

const ofSubnet = (more: object) => {
  const spec = {
    ...{ cidrBlock: '10.17.0.0/24', gateway: '10.17.0.1', disableGatewayCheck: false, vpc: 'ovn-cluster' },
    ...{
      vlan: '',
      gatewayType: 'distributed',
      gatewayNode: '',
      natOutgoing: false,
      externalEgressGateway: '',
    },
  };
  return objectOf('ovn-node-subnet').read({ spec: { ...spec, ...more } } as never, 0);
};

const outside = { externalEgressGateway: '192.0.2.1', policyRoutingTableID: 7, policyRoutingPriority: 9 };

test.each([
  ['a distributed one', {}, { through: 'distributed' }],
  ['one with NAT', { natOutgoing: true }, { through: 'distributed', outgoing: 'nat' }],
  [
    'one with a gateway outside',
    outside,
    { through: 'distributed', outgoing: { addresses: ['192.0.2.1'], table: 7, priority: 9 } },
  ],
  [
    'a centralized one',
    { gatewayType: 'centralized', gatewayNode: 'n1, n2:2001:db8::7' },
    { through: [{ node: 'n1' }, { node: 'n2', address: '2001:db8::7' }] },
  ],
  ['one with a VLAN', { vlan: 'v1', natOutgoing: true }, undefined],
  ['one of another VPC', { vpc: 'red', natOutgoing: true }, undefined],
])('of subnets, %s has its way out through nodes', (_, more, exit) => {
  expect((ofSubnet(more) as { exit?: object }).exit).toEqual(exit);
});

test('a Subnet is a fact with lengths and gateways', () => {
  const both = {
    ...{ cidrBlock: '10.16.0.0/16,fd00:10:16::/112', gateway: '10.16.0.1,fd00:10:16::1' },
    disableGatewayCheck: true,
  };
  expect(ofSubnet(both)).toMatchObject({ ranges, checksGateway: false });
});

test.each([
  ['all of it, however its rates are written', {}, true],
  ['another subnet', { logical_switch: 'blue' }, false],
  ['another address', { ip_address: '10.16.0.6,fd00:10:16::5' }, false],
  ['another MAC address', { mac_address: '00:00:00:11:22:34' }, false],
  ['no address yet', { ip_address: '' }, false],
])('a pod has what is answered where the record says %s: %o is %s', (_, change, isAnswer) => {
  const own = {
    ...{ logical_switch: 'ovn-default', ip_address: addresses.join(','), mac_address: ip.mac },
    ...{ egress_rate: '10.0', ...change },
  };
  const names = Object.entries(own).map(([name, value]) => [`ovn.kubernetes.io/${name}`, value] as const);
  const rated = { ...ip, rates: { egressRate: 10_000_000 } };
  const resolved = model.resolve!(pod, network, readOf({ ...facts, 'ovn-ip/web.shop': rated }));
  expect(model.assigned!.isAnswer(resolved, Object.fromEntries(names))).toBe(isAnswer);
});
