import { createLinuxBackends } from '@podwire/backend-linux';
import { describe, expect, test } from 'vitest';
import fc from 'fast-check';
import { createEngine, type Owned } from '@podwire/engine';
import { createFakeSystem } from '@podwire/backend-linux/fake';
import { addAddressRequest, createLinkRequest, decodeLink, getLinkRequest } from '@podwire/netlink';
import type { NodeView, PeerView, PoolView } from '@podwire/network-contract';
import { createRoutedModel } from '@podwire/network-routed';

const model = createRoutedModel();
const planNode = (node: NodeView) => model.planNode(node);
const planPeer = (node: NodeView, peer: PeerView) => model.planPeer(node, peer);
const podMtu = (node: NodeView) => model.podMtu(node);
const tunnelMac = (name: string) => model.nodeIdentity!(name).tunnelMac;
const checkMtu = (node: NodeView, peers: readonly PeerView[]) =>
  model.diagnose(node, peers).filter(({ code }) => code === 'MTU_MISMATCH');
const unreachableBlocks = (node: NodeView, peer: PeerView) =>
  model
    .diagnose(node, [peer])
    .filter(({ code }) => code === undefined)
    .map(({ message }) => {
      const [block, why] = message.split(' is unreachable: ');
      return { block: block!, why: why! };
    });

const pools = (encapsulation: PoolView['encapsulation']): PoolView[] => [
  { name: 'four', cidr: '10.244.0.0/16', natOutgoing: true, encapsulation: encapsulation ?? 'direct' },
  { name: 'six', cidr: 'fd00:244::/48', natOutgoing: true, encapsulation: encapsulation ?? 'direct' },
];

const nodeWith = (encapsulation: PoolView['encapsulation'], changes: Partial<NodeView> = {}): NodeView => ({
  name: 'node1',
  network: { name: 'default', model: 'routed', pools: pools(encapsulation) },
  blocks: ['10.244.1.0/26', 'fd00:244:0:1::/122'],
  mtu: 1450,
  ipv4: true,
  ipv6: true,
  underlay: { link: 'eth0', mtu: 1500, ipv4: '192.0.2.1/24', ipv6: '2001:db8::1/64' },
  tunnel: { mac: tunnelMac('node1'), ipv4: '10.244.1.0', ipv6: 'fd00:244:0:1::' },
  ...changes,
});

const peer: PeerView = {
  name: 'node2',
  ipv4: '192.0.2.2/24',
  ipv6: '2001:db8::2/64',
  mtu: 1500,
  tunnel: { mac: tunnelMac('node2'), ipv4: '10.244.2.0', ipv6: 'fd00:244:0:2::' },
  blocks: ['10.244.2.0/26', 'FD00:244:0:2:0::/122'],
};
const elsewhere: PeerView = { ...peer, ipv4: '198.51.100.2/24', ipv6: '2001:db8:51::2/64' };

const onTunnel = { in: 'host', link: 'podwire-vx' } as const;
const mac = tunnelMac('node2');
const known = (address: string) => ({
  kind: 'nft-element',
  family: 'inet',
  table: 'podwire',
  set: `tunnelpeers${address.includes(':') ? 6 : 4}`,
  key: [{ type: address.includes(':') ? 'ipv6_addr' : 'ipv4_addr', value: address }],
});
const tunnelPlan = (remote: string) => [
  { kind: 'forwarding-entry', ...onTunnel, mac, remote },
  { kind: 'neighbour', ...onTunnel, address: '10.244.2.0', mac },
  { kind: 'neighbour', ...onTunnel, address: 'fd00:244:0:2::', mac },
  { kind: 'route', ...onTunnel, destination: '10.244.2.0/26', gateway: '10.244.2.0', onlink: true },
  { kind: 'route', ...onTunnel, destination: 'fd00:244:0:2::/122', gateway: 'fd00:244:0:2::', onlink: true },
  known(remote),
];
const directPlan = [
  { kind: 'route', in: 'host', destination: '10.244.2.0/26', gateway: '192.0.2.2', link: 'eth0' },
  { kind: 'route', in: 'host', destination: 'fd00:244:0:2::/122', gateway: '2001:db8::2', link: 'eth0' },
];

// sha1sum of the names: the rule is Calico's, so that both make the same of a name.
test.each([
  ['node1', '66:f9:37:c3:7e:94'],
  ['node-2', '66:c0:93:2e:56:2c'],
  ['worker.example.com', '66:b5:31:d2:1b:8b'],
])('the tunnel of node %s has the MAC %s', (name, expected) => {
  expect(tunnelMac(name)).toBe(expected);
});

describe('the node', () => {
  test('has a tunnel when a pool needs it, after it forwards and before its blocks end here', () => {
    expect(planNode(nodeWith('vxlan')).slice(3)).toEqual([
      {
        ...{ kind: 'vxlan', name: 'podwire-vx', mac: '66:f9:37:c3:7e:94', id: 4096, port: 4789, mtu: 1450 },
        ...{ local: '192.0.2.1', underlay: 'eth0' },
      },
      { kind: 'link-local-mode', ...onTunnel, mode: 'manual' },
      { kind: 'sysctl', in: 'host', key: 'net/ipv6/conf/podwire-vx/disable_ipv6', value: '0' },
      { kind: 'link-up', ...onTunnel },
      { kind: 'address', ...onTunnel, address: '10.244.1.0/32' },
      { kind: 'address', ...onTunnel, address: 'fd00:244:0:1::/128' },
      { kind: 'route', in: 'host', type: 'blackhole', destination: '10.244.1.0/26', metric: 4096 },
      { kind: 'route', in: 'host', type: 'blackhole', destination: 'fd00:244:0:1::/122', metric: 4096 },
    ]);
  });

  test('has none when no pool needs it, or outside a cluster', () => {
    const kinds = (node: NodeView) => planNode(node).map(({ kind }) => kind);
    expect(kinds(nodeWith('direct'))).not.toContain('vxlan');
    const { underlay: _, ...alone } = nodeWith('vxlan');
    expect(kinds(alone)).not.toContain('vxlan');
    expect(kinds(nodeWith('vxlan-cross-subnet'))).toContain('vxlan');
  });

  test('has its tunnel before it has addresses for it, and without IPv6 none of IPv6', () => {
    const { tunnel: _, ...young } = nodeWith('vxlan');
    expect(planNode(young)).toContainEqual(
      expect.objectContaining({ kind: 'vxlan', mac: '66:f9:37:c3:7e:94' }),
    );
    const four = planNode(nodeWith('vxlan', { ipv6: false, blocks: [] }));
    expect(JSON.stringify(four)).not.toMatch(/fd00|ipv6/);
  });

  test('tunnels over IPv6 where it has no IPv4', () => {
    const underlay = { link: 'eth0', mtu: 1500, ipv6: '2001:db8::1/64' };
    expect(planNode(nodeWith('vxlan', { underlay }))).toContainEqual(
      expect.objectContaining({ kind: 'vxlan', local: '2001:db8::1', mtu: 1430 }),
    );
  });
});

describe('a peer', () => {
  test.each([
    ['direct on the same segment', 'direct', peer, directPlan],
    ['direct elsewhere: the routers’ business', 'direct', elsewhere, []],
    ['vxlan on the same segment', 'vxlan', peer, tunnelPlan('192.0.2.2')],
    ['vxlan elsewhere', 'vxlan', elsewhere, tunnelPlan('198.51.100.2')],
    ['cross-subnet on the same segment', 'vxlan-cross-subnet', peer, directPlan],
    ['cross-subnet elsewhere', 'vxlan-cross-subnet', elsewhere, tunnelPlan('198.51.100.2')],
  ] as const)('%s', (_, encapsulation, view, expected) => {
    expect(planPeer(nodeWith(encapsulation), view)).toEqual(expected);
  });

  test('whose prefix is wider than ours is on no common segment', () => {
    const wide = { ...peer, ipv4: '192.0.3.2/16', ipv6: '2001:db8:0:9::2/32' };
    expect(planPeer(nodeWith('direct'), wide)).toEqual([]);
    expect(planPeer(nodeWith('vxlan-cross-subnet'), wide)).toEqual(tunnelPlan('192.0.3.2'));
  });

  test('each family takes its own path where they differ', () => {
    const node = nodeWith('vxlan-cross-subnet');
    const mixed = { ...peer, ipv6: '2001:db8:51::2/64' };
    const kinds = planPeer(node, mixed).map((one) => `${one.kind} ${'link' in one ? one.link : ''}`);
    expect(kinds).toEqual([
      'forwarding-entry podwire-vx',
      'neighbour podwire-vx',
      'route eth0',
      'route podwire-vx',
      'nft-element ',
    ]);
  });

  test('without tunnel addresses yet has no route, is reported, and may send', () => {
    const { tunnel: _, ...young } = peer;
    expect(planPeer(nodeWith('vxlan'), young)).toEqual([known('192.0.2.2')]);
    expect(unreachableBlocks(nodeWith('vxlan'), young)).toEqual([
      { block: '10.244.2.0/26', why: 'node node2 has no IPv4 address of its tunnel yet' },
      { block: 'fd00:244:0:2::/122', why: 'node node2 has no IPv6 address of its tunnel yet' },
    ]);
  });

  test('a borrowed address is a route of its own, also one of ours', () => {
    const borrower = { ...peer, blocks: ['10.244.1.7/32', '10.244.9.9/32', 'fd00:244:0:1::7/128'] };
    const route = { kind: 'route', ...onTunnel, onlink: true };
    expect(planPeer(nodeWith('vxlan'), borrower).filter(({ kind }) => kind === 'route')).toEqual([
      { ...route, destination: '10.244.1.7/32', metric: 16, gateway: '10.244.2.0' },
      { ...route, destination: '10.244.9.9/32', metric: 16, gateway: '10.244.2.0' },
      { ...route, destination: 'fd00:244:0:1::7/128', metric: 2048, gateway: 'fd00:244:0:2::' },
    ]);
  });

  test('a pod has its address before the route to its last owner is gone', async () => {
    const system = createFakeSystem();
    const engine = createEngine({ backends: createLinuxBackends(system) });
    const { route } = system.host;
    route.request([createLinkRequest({ kind: 'ifb', name: 'eth0', up: true })]);
    const uplink = decodeLink(route.request([getLinkRequest('eth0')]).flat()[0]!).index;
    route.request([
      addAddressRequest({ link: uplink, address: '192.0.2.1/24' }),
      addAddressRequest({ link: uplink, address: '2001:db8::1/64', flags: ['noDad'] }),
    ]);
    const call = { signal: new AbortController().signal };
    const leases = ['10.244.1.7', 'fd00:244:0:1::7'].map((address) => ({ address, pool: 'p' }));
    const borrower = { ...peer, blocks: ['10.244.1.7/32', 'fd00:244:0:1::7/128'] };
    const led: Owned = { owner: 'peer:node2', resources: planPeer(nodeWith('direct'), borrower) };
    const { resources } = model.planEndpoint(
      {
        id: { containerId: 'c1', ifName: 'eth0', network: 'default' },
        ...{ pod: {}, leases, mac: '02:00:00:00:00:02', portMappings: [] },
      },
      nodeWith('direct'),
    );
    const links = resources.filter(({ kind }) => kind !== 'nft-element');
    const pod: Owned = { owner: 'endpoint:c1', resources: links, namespace: system.addPod('/run/netns/c1') };
    await engine.apply(led, call);
    await engine.apply(pod, call);
    await engine.remove(led, call);
    expect(await engine.verify(pod, call)).toEqual([]);
    await engine.close();
  });

  test('blocks of other networks are not this network’s business', () => {
    const other = { ...peer, blocks: ['10.99.0.0/26'] };
    expect(planPeer(nodeWith('direct'), other)).toEqual([]);
    expect(unreachableBlocks(nodeWith('direct'), other)).toEqual([]);
  });

  test('a pool within a pool decides for its own blocks', () => {
    const node = nodeWith('vxlan');
    const inner: PoolView = {
      ...{ name: 'inner', cidr: '10.244.2.0/24', natOutgoing: true, encapsulation: 'direct' },
    };
    const network = { ...node.network, pools: [...node.network.pools, inner] };
    const routes = planPeer({ ...node, network }, { ...peer, blocks: ['10.244.2.0/26', '10.244.3.0/26'] });
    expect(routes.flatMap((one) => (one.kind === 'route' ? [one.link] : []))).toEqual(['eth0', 'podwire-vx']);
  });

  test.each([
    ['other segment', 'direct', elsewhere, /node2 is on another segment/],
    ['no address', 'direct', { ...peer, ipv4: undefined, ipv6: undefined }, /node2 has no IPv[46] address/],
    ['only IPv6 there', 'vxlan', { ...peer, ipv4: undefined }, /begin at IPv4 here and end at IPv6/],
  ] as const)('tells why it is not reached: %s', (_, encapsulation, view, why) => {
    const clean = JSON.parse(JSON.stringify(view)) as PeerView;
    const unreachable = unreachableBlocks(nodeWith(encapsulation), clean);
    expect(unreachable).toHaveLength(2);
    for (const one of unreachable) expect(one.why).toMatch(why);
  });

  test('every block has exactly one route or one reason, and no plan names a thing twice', () => {
    const prefix4 = fc.integer({ min: 0, max: 255 }).map((n) => `10.244.${n}.0/26`);
    const prefix6 = fc.integer({ min: 1, max: 255 }).map((n) => `fd00:244:0:${n.toString(16)}::/122`);
    fc.assert(
      fc.property(
        fc.constantFrom('direct' as const, 'vxlan' as const, 'vxlan-cross-subnet' as const),
        fc.constantFrom(peer, elsewhere),
        fc.constantFrom('all', 'no tunnel', 'no ipv4', 'no ipv6'),
        fc.uniqueArray(fc.oneof(prefix4, prefix6), { maxLength: 8 }),
        (encapsulation, base, lack, blocks) => {
          const missing = { all: '', 'no tunnel': 'tunnel', 'no ipv4': 'ipv4', 'no ipv6': 'ipv6' }[lack];
          const entries = Object.entries({ ...base, blocks }).filter(([key]) => key !== missing);
          const view = Object.fromEntries(entries) as unknown as PeerView;
          const node = nodeWith(encapsulation);
          const plan = planPeer(node, view);
          const routed = plan.flatMap((one) => (one.kind === 'route' ? [one.destination] : []));
          const reported = unreachableBlocks(node, view).map(({ block }) => block);
          expect([...routed, ...reported].sort()).toEqual([...blocks].sort());
          expect(new Set(plan.map((one) => JSON.stringify(one))).size).toBe(plan.length);
          expect(JSON.parse(JSON.stringify(plan))).toEqual(plan);
        },
      ),
    );
  });
});

describe('packet sizes', () => {
  test.each([
    ['direct', { link: 'eth0', mtu: 1500, ipv4: '192.0.2.1/24' }, 1500],
    ['vxlan', { link: 'eth0', mtu: 1500, ipv4: '192.0.2.1/24' }, 1450],
    ['vxlan', { link: 'eth0', mtu: 1500, ipv6: '2001:db8::1/64' }, 1430],
    ['vxlan-cross-subnet', { link: 'eth0', mtu: 9000, ipv4: '192.0.2.1/24' }, 8950],
  ] as const)('pods of %s pools on %j have an MTU of %i', (encapsulation, underlay, expected) => {
    expect(podMtu(nodeWith(encapsulation, { underlay }))).toBe(expected);
  });

  test('outside a cluster the node’s MTU stays', () => {
    const { underlay: _, ...alone } = nodeWith('vxlan', { mtu: 1337 });
    expect(podMtu(alone)).toBe(1337);
  });

  test('equal uplinks are no problem, nor is one of an unknown MTU', () => {
    const { mtu: _, ...unknown } = peer;
    expect(checkMtu(nodeWith('vxlan'), [peer, elsewhere, unknown])).toEqual([]);
  });

  test('a peer whose uplink takes less than what we send is named', () => {
    const small = { ...peer, mtu: 1480 };
    expect(checkMtu(nodeWith('vxlan'), [peer, small])).toEqual([
      {
        code: 'MTU_MISMATCH',
        peer: 'node2',
        message: 'packets of up to 1500 bytes go to node node2, whose uplink takes 1480',
      },
    ]);
    expect(checkMtu(nodeWith('vxlan', { mtu: 1400 }), [small])).toEqual([]);
    expect(checkMtu(nodeWith('vxlan-cross-subnet'), [small])).toEqual([]);
  });

  test('pods that send more than the own uplink takes, or too little for IPv6', () => {
    const messages = (node: NodeView) => checkMtu(node, []).map(({ message }) => message);
    expect(messages(nodeWith('vxlan', { mtu: 1500 }))).toEqual([
      'pods of network default send 1500 bytes, eth0 of 1500 bytes takes at most 1450',
    ]);
    expect(messages(nodeWith('direct', { mtu: 1200 }))).toEqual([
      'pods of network default send 1200 bytes, IPv6 needs links of 1280',
    ]);
    expect(messages(nodeWith('direct', { mtu: 1200, ipv6: false }))).toEqual([]);
  });
});
