/** The model as tables: this pod on this node gives this list. */
import { isDeepStrictEqual } from 'node:util';
import { linuxKinds } from '@podwire/backend-linux';
import { flowKinds } from '@podwire/backend-openflow';
import { switchKinds } from '@podwire/backend-ovsdb';
import { createKindRegistry, inApplyOrder, type Resource } from '@podwire/engine';
import type { PodwireError } from '@podwire/errors';
import type { Endpoint, NodeNow } from '@podwire/network-contract';
import { type Flow, formatFlow } from '@podwire/openflow';
import { planBridgeFlows, planPodFlows, planProjectFlows, portOf } from '@podwire/network-sdn';
import type { Read } from '@podwire/planner';
import { describe, expect, test } from 'vitest';
import { endpointOf, model, peerOf, subnetOf, viewOf } from './views.js';

const kinds = createKindRegistry([
  ...Object.values(linuxKinds),
  ...Object.values(switchKinds),
  ...Object.values(flowKinds),
]);
const node = viewOf(1);
const link = 'cali62c42ffa710';
const isFlow = ({ kind }: Resource): boolean => kind === 'flow';
const withoutFlows = (resources: readonly Resource[]): Resource[] =>
  resources.filter((resource) => !isFlow(resource));
const flowTexts = (resources: readonly Resource[]): string[] =>
  resources.filter(isFlow).map((resource) => formatFlow(resource as unknown as Flow));
const resourcesOf = (endpoint: Endpoint, view = node): readonly Resource[] =>
  model.planEndpoint(endpoint, view).resources;

function codeOf(work: () => unknown): [string, string] {
  try {
    work();
  } catch (error) {
    const { code, message } = error as PodwireError;
    return [code, message];
  }
  return ['', 'nothing was thrown'];
}

test('a node has a bridge with two ports, and its own side of it', () => {
  const on = { in: 'host', link: 'tun0' };
  const set = (key: string, value: string): object => ({ kind: 'sysctl', in: 'host', key, value });
  const plan = withoutFlows(model.planNode(node));
  expect(plan.filter(({ kind }) => kind !== 'nft-table')).toEqual([
    { kind: 'ovs-bridge', name: 'br0', failMode: 'secure', protocols: ['OpenFlow13', 'OpenFlow14'] },
    {
      ...{ kind: 'ovs-port', name: 'vxlan0', bridge: 'br0' },
      interfaces: [
        {
          ...{ name: 'vxlan0', type: 'vxlan', ofportRequest: 1 },
          options: { remote_ip: 'flow', key: 'flow', dst_port: '4789' },
        },
      ],
    },
    { kind: 'ovs-port-ready', port: 'vxlan0', number: 1 },
    {
      ...{ kind: 'ovs-port', name: 'tun0', bridge: 'br0' },
      interfaces: [{ name: 'tun0', type: 'internal', ofportRequest: 2, mtuRequest: 1450 }],
    },
    { kind: 'ovs-port-ready', port: 'tun0', number: 2, isLink: true },
    { ...set('net/ipv4/ip_forward', '1'), after: ['nft-table inet podwire'] },
    set('net/ipv4/conf/tun0/forwarding', '1'),
    set('net/ipv4/conf/all/send_redirects', '0'),
    set('net/ipv4/conf/tun0/send_redirects', '0'),
    { kind: 'address', ...on, address: '10.128.2.1/23' },
    { kind: 'link-up', ...on },
    { kind: 'route', ...on, destination: '10.128.0.0/14', scope: 'link' },
    { kind: 'route', ...on, destination: '172.30.0.0/16', scope: 'link' },
  ]);
});

test('the flows of a node are those of the bridge, and at last the note of their version', () => {
  const sdnNode = {
    ...{ address: '192.0.2.1', subnet: subnetOf(1), clusterNetworks: ['10.128.0.0/14'] },
    ...{ serviceNetwork: '172.30.0.0/16', vxlanPort: 4789 },
    ...({ mode: 'multitenant', datapath: 'system' } as const),
  };
  expect(flowTexts(model.planNode(node))).toEqual([
    ...planBridgeFlows(sdnNode).map(formatFlow),
    'table=253,priority=32768,actions=note:01.0d.00.00.00.00',
  ]);
});

test('options change the bridge, the tunnel and the packet filter', () => {
  const plan = model.planNode(viewOf(1, { datapath: 'netdev', vxlanPort: 4790, mode: 'subnet' }));
  expect(plan).toContainEqual(expect.objectContaining({ kind: 'ovs-bridge', datapathType: 'netdev' }));
  expect(JSON.stringify(plan)).toContain('"dst_port":"4790"');
  const table = plan.find(({ kind }) => kind === 'nft-table');
  expect(JSON.stringify(table)).toContain('udp dport 4790 notrack');
  expect(flowTexts(plan).at(-1)).toContain('note:00.0d');
});

test('a node without subnet has nothing yet, and pods have to wait', () => {
  const early = { ...node, blocks: [] };
  expect(model.planNode(early)).toEqual([]);
  expect(codeOf(() => model.planEndpoint(endpointOf(1, 0, 42), early))).toEqual([
    'POOL_EXHAUSTED',
    'node node1 has no subnet of network default yet',
  ]);
});

test.each([
  [
    'without an IPv4 address',
    { underlay: { link: 'eth0', mtu: 1500 } },
    'node node1 has no IPv4 address for tunnels',
  ],
  [
    'with two subnets',
    { blocks: [subnetOf(1), subnetOf(2)] },
    'node node1 has the blocks 10.128.2.0/23, 10.128.4.0/23, and may have one',
  ],
])('a node %s is refused', (_, change, why) => {
  expect(codeOf(() => model.planNode({ ...node, ...change }))).toEqual([
    'CONFIG_INVALID',
    `network default of the model sdn: ${why}`,
  ]);
});

test('a peer is flows of tables 10, 50 and 90 with the mark of its name', () => {
  const plan = model.planPeer(node, peerOf(2));
  expect(flowTexts(plan)).toEqual([
    'table=10,priority=100,tun_src=192.0.2.2,actions=goto_table:30',
    'table=50,priority=100,arp,arp_tpa=10.128.4.0/23,actions=move:reg0[]->tun_id[0..31],set_field:192.0.2.2->tun_dst,output:1',
    'table=90,priority=100,ip,ip_dst=10.128.4.0/23,actions=move:reg0[]->tun_id[0..31],set_field:192.0.2.2->tun_dst,output:1',
  ]);
  expect(new Set(plan.map((flow) => 'mark' in flow && flow.mark)).size).toBe(1);
  const two = model.planPeer(node, { ...peerOf(2), blocks: [subnetOf(2), subnetOf(3), 'fd00::/64'] });
  expect(new Set(two.map(kinds.keyOf)).size).toBe(5);
  const { ipv4: _, ...without } = peerOf(2);
  for (const peer of [{ ...peerOf(2), blocks: [] }, without]) expect(model.planPeer(node, peer)).toEqual([]);
});

test('multicast goes to all peers, and its flow is planned again with each of them', () => {
  const [scopes] = model.scopes!;
  const names = new Set(['node2', 'node3', 'gone']);
  const read = ((name: string) => {
    if (name === 'peers') return names;
    if (name.startsWith('sides')) return [{ model, view: node }];
    return name === 'peer/gone' ? undefined : peerOf(Number(name.slice(-1)));
  }) as Read;
  expect([...scopes!.list(read)]).toEqual(['peers']);
  expect(flowTexts(scopes!.plan('peers', read) as Resource[])).toEqual([
    'table=111,priority=100,actions=move:reg0[]->tun_id[0..31],set_field:192.0.2.2->tun_dst,output:1,' +
      'set_field:192.0.2.3->tun_dst,output:1,goto_table:120',
  ]);
});

test('a pod has a veth pair, a port with the number of its address, and routes as in OpenShift', () => {
  const [inPod, onHost] = [
    { in: 'pod', link: 'eth0' },
    { in: 'host', link },
  ];
  const sysctl = { kind: 'sysctl', in: 'host', value: '1', optional: true };
  const planned = model.planEndpoint(endpointOf(1, 3, 42), node);
  expect(withoutFlows(planned.resources)).toEqual([
    {
      ...{ kind: 'veth', host: { name: link, mac: 'fe:58:0a:80:02:05' }, mtu: 1450 },
      pod: { name: 'eth0', mac: '0a:58:0a:80:02:05' },
    },
    { kind: 'sysctl', in: 'pod', key: 'net/ipv4/ip_forward', value: '0', initial: true },
    { kind: 'link-up', in: 'pod', link: 'lo' },
    { kind: 'link-up', ...inPod },
    { kind: 'address', ...inPod, address: '10.128.2.5/23' },
    { kind: 'route', ...inPod, destination: '10.128.0.0/14', scope: 'link' },
    { kind: 'route', ...inPod, destination: '224.0.0.0/4', scope: 'link' },
    { kind: 'route', ...inPod, destination: '172.30.0.0/16', gateway: '10.128.2.1' },
    { kind: 'route', ...inPod, destination: '0.0.0.0/0', gateway: '10.128.2.1' },
    { kind: 'link-local-mode', ...onHost, mode: 'manual' },
    { ...sysctl, key: `net/ipv4/conf/${link}/rp_filter` },
    { ...sysctl, key: `net/ipv6/conf/${link}/disable_ipv6` },
    { kind: 'link-up', ...onHost },
    {
      ...{ kind: 'ovs-port', name: link, bridge: 'br0', interfaces: [{ name: link, ofportRequest: 6 }] },
      externalIds: { sandbox: 'c1-3', ip: '10.128.2.5' },
    },
    { kind: 'ovs-port-ready', port: link, number: 6 },
    { kind: 'link-ready', ...inPod },
  ]);
  expect(flowTexts(planned.resources)).toEqual(
    [
      ...planProjectFlows('multitenant', 42),
      ...planPodFlows({ mode: 'multitenant', datapath: 'system' }, { ip: '10.128.2.5', port: 6, vnid: 42 }),
    ].map(formatFlow),
  );
  expect(planned).toMatchObject({
    links: [
      { side: 'host', name: link },
      { side: 'pod', name: 'eth0', mac: '0a:58:0a:80:02:05' },
    ],
    ...{ mtu: 1450, gateways: ['10.128.2.1'] },
    routes: [
      { dst: '10.128.0.0/14' },
      { dst: '224.0.0.0/4' },
      { dst: '172.30.0.0/16', gw: '10.128.2.1' },
      { dst: '0.0.0.0/0', gw: '10.128.2.1' },
    ],
  });
});

test('a pod with macvlan0 reaches the addresses below it through the bridge, by its first interface alone', () => {
  const foundLinks = [{ name: 'macvlan0', parentAddresses: ['192.0.2.7', '198.51.100.7'] }];
  const endpoint = { ...endpointOf(1, 3, 42), foundLinks };
  const before = model.planEndpoint(endpointOf(1, 3, 42), node).resources;
  const added = model
    .planEndpoint(endpoint, node)
    .resources.filter((each) => !before.some((other) => isDeepStrictEqual(each, other)));
  const route = { kind: 'route', in: 'pod', link: 'eth0', gateway: '10.128.2.1' };
  expect(added).toEqual([
    { kind: 'link-up', in: 'pod', link: 'macvlan0' },
    { ...route, destination: '192.0.2.7/32' },
    { ...route, destination: '198.51.100.7/32' },
  ]);
  const further = { ...endpoint, id: { ...endpoint.id, ifName: 'net1' } };
  expect(model.planEndpoint(further, node).resources).not.toContainEqual(added[0]);
});

test('a pod completes its checksums itself on the datapath netdev alone', () => {
  const whole = { kind: 'link-feature', in: 'pod', link: 'eth0', feature: 'tx-checksumming', on: false };
  const netdev = viewOf(1, { datapath: 'netdev' });
  expect(resourcesOf(endpointOf(1, 3, 42), netdev)).toContainEqual(whole);
  expect(resourcesOf(endpointOf(1, 3, 42)).map(({ kind }) => kind)).not.toContain('link-feature');
});

test('pods of one project share its flows, and each has all others for itself', () => {
  const keysOf = (index: number): string[] => resourcesOf(endpointOf(1, index, 42)).map(kinds.keyOf);
  const inPod = kinds.keyOf({ kind: 'link-up', in: 'pod', link: 'lo' });
  const shared = keysOf(0).filter((key) => keysOf(1).includes(key) && !key.includes(' pod/'));
  expect(inPod).toContain(' pod/');
  expect(shared).toEqual([
    expect.stringMatching(/^flow br0\/80\/100\//), // both VNIDs are 42
  ]);
});

test('a further interface leaves the default route to the first one', () => {
  const id = { containerId: 'c', ifName: 'net1', network: 'default' };
  const planned = model.planEndpoint(endpointOf(1, 0, 42, { id }), node);
  expect(planned.routes.map(({ dst }) => dst)).not.toContain('0.0.0.0/0');
});

test('rates are in the database of the switch', () => {
  const bandwidth = { ingressRate: 10_000_000, egressRate: 5_500_000, egressBurst: 2_000_000 };
  const resources = resourcesOf(endpointOf(1, 3, 42, { bandwidth }));
  expect(resources).toContainEqual({
    ...{ kind: 'ovs-qos', name: link, type: 'linux-htb', otherConfig: { 'max-rate': '10000000' } },
  });
  const policing = { ingressPolicingRate: 5_500, ingressPolicingBurst: 2_000 };
  expect(resources).toContainEqual(
    expect.objectContaining({ qos: link, interfaces: [{ name: link, ofportRequest: 6, ...policing }] }),
  );
});

test('host ports lead through the link of the node', () => {
  const portMappings = [{ hostPort: 8080, containerPort: 80, protocol: 'tcp' } as const];
  const resources = resourcesOf(endpointOf(1, 3, 42, { portMappings }));
  expect(resources).toContainEqual(expect.objectContaining({ key: 'net/ipv4/conf/tun0/route_localnet' }));
  expect(resources).toContainEqual(expect.objectContaining({ kind: 'nft-element', set: 'hostports4' }));
});

test.each([
  ['10.128.2.2', subnetOf(1), 3],
  ['10.128.3.254', subnetOf(1), 511],
  ['10.128.2.18', '10.128.2.16/28', 3],
])('%s in %s has port %i', (ip, subnet, port) => {
  expect(portOf(ip, subnet)).toBe(port);
});

describe('refuses', () => {
  const lease = (address: string): Partial<Endpoint> => ({ leases: [{ address, pool: 'pods' }] });

  test.each<[string, Partial<Endpoint>, string, string]>([
    [
      'another MAC than that of the address',
      { requestedMac: '02:00:00:00:00:07' },
      'REQUEST_INVALID',
      'mac: a pod with 10.128.2.2 has 0a:58:0a:80:02:02 in the model sdn, and no other',
    ],
    ['an address of another node', lease('10.128.9.9'), 'REQUEST_INVALID', '10.128.9.9 is not in the subnet'],
    ['a pod without address', { leases: [] }, 'REQUEST_INVALID', 'this one has 0'],
    ['an IPv6 address', lease('fd00::2'), 'REQUEST_INVALID', 'fd00::2 is not in the subnet'],
    ['the address of the node', lease('10.128.2.1'), 'OBJECT_INVALID', '2 is no port of a pod'],
    ['a number that is no VNID', { attachment: { vnid: 2 ** 24 } }, 'OBJECT_INVALID', 'VNID 16777216'],
    [
      'a pod that was not resolved',
      { attachment: {} },
      'PROJECT_UNKNOWN',
      'project42/pod1-0 was not resolved',
    ],
  ])('%s', (_, change, code, message) => {
    const [found, words] = codeOf(() => model.planEndpoint({ ...endpointOf(1, 0, 42), ...change }, node));
    expect([found, words]).toEqual([code, expect.stringContaining(message)]);
  });

  test('no MAC that is the one of the address, however it is written', () => {
    expect(() => resourcesOf(endpointOf(1, 0, 42, { requestedMac: '0A:58:0A:80:02:02' }))).not.toThrow();
  });
});

describe('resolve', () => {
  const asked: string[] = [];
  const read = ((name: string) => {
    asked.push(name);
    return name === 'net-namespace/shop' ? { netid: 42 } : undefined;
  }) as Read;

  test('finds the VNID of the namespace', () => {
    expect(model.resolve!({ namespace: 'shop', name: 'web' }, node.network, read)).toEqual({ vnid: 42 });
    expect(asked).toEqual(['net-namespace/shop']);
  });

  test('has the runtime try again while there is none', () => {
    const [code, message] = codeOf(() => model.resolve!({ namespace: 'new' }, node.network, read));
    expect([code, message]).toEqual(['PROJECT_UNKNOWN', 'namespace new has no VNID yet']);
  });

  test('refuses a pod without namespace, but in the mode subnet, where all pods are of one project', () => {
    expect(codeOf(() => model.resolve!({}, node.network, read))[0]).toBe('REQUEST_INVALID');
    const { network } = viewOf(1, { mode: 'subnet' });
    expect(model.resolve!({}, network, () => expect.unreachable())).toEqual({ vnid: 0 });
  });
});

describe('the subnet of a node', () => {
  test('is that of its HostSubnet, if that is in the network', () => {
    const facts = [{ subnet: '10.128.2.0/23' }, { subnet: '10.200.2.0/23' }, undefined];
    const found = facts.map((fact) => model.subnets!.of(fact, node.network));
    expect(found).toEqual([['10.128.2.0/23'], [], []]);
  });

  test('is in one of the cluster networks, which are the pools', () => {
    expect(model.subnets!.pools(node.network)).toEqual([
      { name: '10.128.0.0/14', cidr: '10.128.0.0/14', encapsulation: 'ovs-vxlan' },
    ]);
  });

  test('follows from no HostSubnet that was not answered yet', () => {
    const { read: readFact } = model.objects!.find(({ fact }) => fact === 'host-subnet')!;
    const answer = (subnet: string): unknown => readFact({ subnet, host: 'node1' } as never, 0);
    expect([answer(''), answer('10.128.2.0/23')]).toEqual([undefined, { subnet: '10.128.2.0/23' }]);
  });
});

test('blocks of a peer in other networks are behind no tunnel of this one', () => {
  const peer = { ...peerOf(2), blocks: ['10.244.3.0/26', subnetOf(2)] };
  expect(model.planPeer(node, peer)).toEqual(model.planPeer(node, peerOf(2)));
});

describe('the order over all backends', () => {
  const orderOf = (resources: readonly Resource[]): string[] =>
    inApplyOrder(kinds, resources).map((resource) => kinds.keyOf(resource));
  const expectOrder = (keys: readonly string[], wanted: readonly string[]): void => {
    const places = wanted.map((key) => keys.findIndex((one) => one.startsWith(key)));
    expect(places).not.toContain(-1);
    expect(places).toEqual([...places].sort((a, b) => a - b));
  };
  const bridge = 'Open_vSwitch/Bridge/br0';

  test('of a node: bridge, port, the link that it brings, and what is on this link; flows after their bridge', () => {
    const keys = orderOf([...model.planNode(node)].reverse());
    expectOrder(keys, [bridge, 'Open_vSwitch/Port/tun0', 'link host/tun0', 'address host/tun0']);
    expectOrder(keys, ['link host/tun0', 'sysctl host/net/ipv4/conf/tun0/forwarding']);
    expectOrder(keys, [bridge, 'flow br0/0/']);
  });

  test('of a node: all flows in one bundle, after the ports whose numbers they name', () => {
    const keys = orderOf(model.planNode(node));
    const places = keys.flatMap((key, place) => (key.startsWith('flow br0/') ? [place] : []));
    expect(places.at(-1)! - places[0]! + 1).toBe(places.length);
    expectOrder(keys, ['ovs-port-ready vxlan0', 'flow br0/']);
    expectOrder(keys, ['link host/tun0', 'flow br0/']);
  });

  test('of a pod: the veth pair before its port, and the port before it is called ready', () => {
    const keys = orderOf(resourcesOf(endpointOf(1, 3, 42)));
    expectOrder(keys, [
      `link host/${link}`,
      `Open_vSwitch/Port/${link}`,
      `ovs-port-ready ${link}`,
      'flow br0/',
    ]);
  });
});

test('a node that disagrees with a peer says so', () => {
  const facts = { sdn: { mode: 'subnet', 'vxlan-port': '4789' } };
  const { ipv4: _, ...without } = peerOf(3);
  const now: NodeNow = { read: () => undefined as never, stateOf: () => 'pending', before: {} };
  expect(model.publish!(node, now)).toEqual({ mode: 'multitenant', 'vxlan-port': '4789' });
  expect(model.diagnose({ ...node, mtu: 1500 }, [{ ...peerOf(2), facts }, without, peerOf(4)])).toEqual([
    {
      code: 'MTU_MISMATCH',
      message: 'pods of network default send 1500 bytes, and tunnels of this node take at most 1450',
    },
    { peer: 'node2', message: 'its mode is subnet, and that of this node is multitenant' },
    { peer: 'node3', message: '10.128.6.0/23 cannot be reached: the node has no IPv4 address' },
  ]);
});
