import { topologyPlans } from '@podwire/cluster-ovn';
import type { NorthboundResources } from '@podwire/backend-ovsdb/northbound/resources';
import type { Resource } from '@podwire/engine';
import type { Planned } from '@podwire/planner';
import { describe, expect, it } from 'vitest';
import { createWorld, nodeOf, podOf, readerOf, subnetOf, type World } from './world.js';

const {
  'ovn-vpc': planVpc,
  'ovn-subnet': planSubnet,
  'ovn-node': planNode,
  'ovn-pod': planPod,
} = topologyPlans;

/** All resources of a plan, those for each member included. */
function listAll({ resources = [], collections = [] }: Planned<Resource> = {}, world: World): Resource[] {
  const members = collections.flatMap(({ resources: of }) =>
    [...world.nodes.keys()].flatMap((node) => of(node, world.nodes)),
  );
  return [...resources, ...members];
}

const planAll = (subnet: string, world: World): Resource[] =>
  listAll(planSubnet(subnet, readerOf(world)), world);

const ofKind = <K extends keyof NorthboundResources>(kind: K, list: readonly Resource[]) =>
  list.filter((one) => one.kind === kind) as unknown as NorthboundResources[K][];

const vendor = { vendor: 'kube-ovn' };

describe('a VPC', () => {
  it('has a router; that of the nodes routes everything to the subnet `join`, where policies choose', () => {
    expect(planVpc('ovn-cluster', readerOf(createWorld()))).toEqual([
      { kind: 'logical-router', name: 'ovn-cluster', externalIds: vendor },
      {
        ...{ kind: 'static-route', name: 'ovn-cluster 0.0.0.0/0', router: 'ovn-cluster' },
        ...{ prefix: '0.0.0.0/0', nextHop: '100.64.0.1' },
      },
    ]);
  });

  it('of its own has the routes that its object names, and no other', () => {
    const world = createWorld();
    world.vpcs.set('red', {
      isDefault: false,
      staticRoutes: [
        { policy: 'policyDst', cidr: '0.0.0.0/0', nextHopIP: '10.20.0.254' },
        { policy: 'policySrc', cidr: '10.20.0.0/24', nextHopIP: '10.20.0.253' },
      ],
    });
    const [router, ...routes] = planVpc('red', readerOf(world))!;
    expect(router).toMatchObject({ kind: 'logical-router', name: 'red' });
    expect(routes).toMatchObject([
      { prefix: '0.0.0.0/0', nextHop: '10.20.0.254', policy: 'dst-ip' },
      { prefix: '10.20.0.0/24', nextHop: '10.20.0.253', policy: 'src-ip' },
    ]);
  });

  it('that is gone has nothing', () => {
    expect(planVpc('red', readerOf(createWorld()))).toBeUndefined();
  });
});

describe('a subnet', () => {
  it('has a switch, and both sides of a link to its router with the gateway', () => {
    const list = planAll('blue', createWorld());
    expect(list.slice(0, 3)).toEqual([
      { kind: 'logical-switch', name: 'blue', externalIds: vendor },
      {
        ...{ kind: 'logical-router-port', name: 'ovn-cluster-blue', router: 'ovn-cluster' },
        mac: expect.stringMatching(/^02(:[0-9a-f]{2}){5}$/) as string,
        ...{ networks: ['10.17.0.1/16'], externalIds: vendor },
      },
      {
        ...{ kind: 'logical-switch-port', name: 'blue-ovn-cluster', switch: 'blue', type: 'router' },
        ...{ addresses: ['router'], options: { 'router-port': 'ovn-cluster-blue' }, externalIds: vendor },
      },
    ]);
  });

  it('keeps traffic to it inside, and sends what pods of a node send elsewhere through that node', () => {
    const policies = ofKind('router-policy', planAll('blue', createWorld()));
    expect(
      policies.map(({ priority, match, action, nextHops }) => [priority, match, action, nextHops]),
    ).toEqual([
      [31_000, 'ip4.dst == 10.17.0.0/16', 'allow', undefined],
      [29_000, 'ip4.src == $blue.node_1_ip4', 'reroute', ['100.64.0.2']],
      [29_000, 'ip4.src == $blue.node_2_ip4', 'reroute', ['100.64.0.3']],
    ]);
    expect(ofKind('port-group', planAll('blue', createWorld())).map(({ name }) => name)).toEqual([
      'blue.node_1',
      'blue.node_2',
    ]);
  });

  it('of both families has a policy of each for what its nodes have an address of', () => {
    const world = createWorld();
    const ranges = [
      { cidr: '10.18.0.0/16', gateway: '10.18.0.1' },
      { cidr: 'fd18::/64', gateway: 'fd18::1' },
    ];
    world.subnets.set('dual', { ...subnetOf('18'), ranges });
    world.nodes.set('node-1', { ...nodeOf(1), joinAddresses: ['100.64.0.2', 'fd64::2'] });
    const list = planAll('dual', world);
    expect(ofKind('logical-router-port', list)[0]!.networks).toEqual(['10.18.0.1/16', 'fd18::1/64']);
    expect(
      ofKind('router-policy', list).map(({ match, nextHops = [] }) => `${match} ${nextHops.join()}`),
    ).toEqual([
      'ip4.dst == 10.18.0.0/16 ',
      'ip6.dst == fd18::/64 ',
      'ip4.src == $dual.node_1_ip4 100.64.0.2',
      'ip6.src == $dual.node_1_ip6 fd64::2',
      'ip4.src == $dual.node_2_ip4 100.64.0.3',
    ]);
  });

  it('that is centralized leaves through its gateways, and nowhere while none of them is there', () => {
    const world = createWorld();
    const leave = (nodes: readonly string[]) => {
      world.subnets.set('blue', subnetOf('17', { egress: { type: 'centralized', nodes } }));
      const list = planAll('blue', world);
      expect(ofKind('port-group', list)).toEqual([]);
      return ofKind('router-policy', list).slice(1);
    };
    const match = 'ip4.src == 10.17.0.0/16';
    expect(leave(['node-2', 'node-1'])).toMatchObject([
      { match, action: 'reroute', nextHops: ['100.64.0.3', '100.64.0.2'] },
    ]);
    expect(leave(['gone'])).toMatchObject([{ match, action: 'drop' }]);
  });

  it('of a VPC of its own has no policies: nodes are not in it', () => {
    const world = createWorld();
    world.vpcs.set('red', { isDefault: false, staticRoutes: [] });
    world.subnets.set('blue', subnetOf('17', { vpc: 'red' }));
    expect(planAll('blue', world).map(({ kind }) => kind)).toEqual([
      ...['logical-switch', 'logical-router-port', 'logical-switch-port'],
    ]);
  });

  it('without its VPC is a switch alone, so that its pods keep their ports', () => {
    const world = createWorld();
    world.vpcs.clear();
    expect(planAll('blue', world)).toEqual([{ kind: 'logical-switch', name: 'blue', externalIds: vendor }]);
  });

  it.each([
    [0, undefined],
    [10, 10],
  ])('on a network outside with VLAN %i has a port to it with the tag %s, and no router', (vlan, tag) => {
    const world = createWorld();
    world.subnets.set('blue', subnetOf('17', { underlay: { provider: 'net1', vlan } }));
    const [, port, ...rest] = planAll('blue', world);
    expect(port).toEqual({
      ...{ kind: 'logical-switch-port', name: 'localnet.blue', switch: 'blue', type: 'localnet' },
      ...{ addresses: ['unknown'], options: { network_name: 'net1' }, externalIds: vendor },
      ...(tag === undefined ? {} : { tag }),
    });
    expect(rest).toEqual([]);
  });

  it('has groups whose names stand for one subnet and one node', () => {
    const names = (subnet: string, node: string) => {
      const world = createWorld();
      world.subnets.set(subnet, subnetOf('17'));
      world.nodes.clear();
      world.nodes.set(node, nodeOf(1));
      return ofKind('port-group', planAll(subnet, world)).map(({ name }) => name);
    };
    expect(names('a-b', 'c')).toEqual(['a_b.c']);
    expect(names('a', 'b-c')).toEqual(['a.b_c']);
    expect(names('a', 'b.c')).toEqual(['a.b..c']);
    expect(names('a.b', 'c')).toEqual(['a..b.c']);
    expect(names('1a', 'c')).toEqual(['_1a.c']);
  });
});

describe('a node', () => {
  it('has a port on the subnet `join`, and gets what is sent to its own addresses there', () => {
    expect(planNode('node-2', readerOf(createWorld()))).toEqual([
      {
        ...{ kind: 'logical-switch-port', name: 'node-node-2', switch: 'join' },
        ...{ addresses: ['00:00:00:00:64:02 100.64.0.3'], externalIds: vendor },
      },
      {
        ...{ kind: 'router-policy', name: 'to node node-2 192.0.2.2', router: 'ovn-cluster' },
        ...{ priority: 30_000, match: 'ip4.dst == 192.0.2.2', action: 'reroute', nextHops: ['100.64.0.3'] },
        externalIds: vendor,
      },
    ]);
  });

  it('is not reached by an address of a family that the subnet `join` does not have', () => {
    const world = createWorld();
    world.nodes.set('node-1', { ...nodeOf(1), addresses: ['192.0.2.1', '2001:db8::1'] });
    expect(ofKind('router-policy', planNode('node-1', readerOf(world))!)).toHaveLength(1);
  });

  it('without the subnet `join` has nothing', () => {
    const world = createWorld();
    world.subnets.delete('join');
    expect(planNode('node-1', readerOf(world))).toBeUndefined();
  });
});

describe('a node with rates', () => {
  it('has a rule for each direction on its port', () => {
    const world = createWorld();
    world.nodes.set('node-1', { ...nodeOf(1), ingressRate: 3_000_000, egressRate: 1_000_000 });
    const rules = ofKind('qos-rule', planNode('node-1', readerOf(world))!);
    expect(rules.map((rule) => [rule.switch, rule.direction, rule.match, rule.bandwidth.rate])).toEqual([
      ['join', 'from-lport', 'inport == "node-node-1"', 1_000],
      ['join', 'to-lport', 'outport == "node-node-1"', 3_000],
    ]);
    expect(ofKind('qos-rule', planNode('node-2', readerOf(world))!)).toEqual([]);
  });
});

describe('a pod', () => {
  it('has one port with its addresses, in the group of its subnet and node', () => {
    expect(planPod('shop/db', readerOf(createWorld()))).toEqual([
      {
        ...{ kind: 'port-group', name: 'blue.node_2' },
        externalIds: { ...vendor, subnet: 'blue', node: 'node-2' },
      },
      {
        ...{ kind: 'logical-switch-port', name: 'db.shop', switch: 'blue' },
        ...{ addresses: ['00:00:00:11:00:05 10.17.0.5'], groups: ['blue.node_2'] },
        externalIds: { ...vendor, pod: 'shop/db' },
      },
    ]);
  });

  it('may be bound to its own addresses', () => {
    const world = createWorld();
    world.pods.set('shop/db', podOf('shop/db', 'blue', '10.17.0.5', { hasPortSecurity: true }));
    expect(planPod('shop/db', readerOf(world))).toMatchObject([
      { addresses: ['00:00:00:11:00:05 10.17.0.5'], portSecurity: ['00:00:00:11:00:05 10.17.0.5'] },
    ]);
  });

  it.each([
    ['10 Mbit/s', 10_000_000, { rate: 10_000, burst: 8_000 }],
    ['less than the database can say', 1, { rate: 1, burst: 1 }],
    ['more than the database can say', 9_999_999e6, { rate: 4_294_967_295, burst: 3_435_973_836 }],
  ])('that is to send no more than %s has a rule with its bandwidth', (_, egressRate, bandwidth) => {
    const world = createWorld();
    world.pods.set('shop/db', podOf('shop/db', 'blue', '10.17.0.5', { egressRate }));
    expect(ofKind('qos-rule', planPod('shop/db', readerOf(world))!)).toEqual([
      {
        ...{ kind: 'qos-rule', name: 'db.shop', switch: 'blue', direction: 'from-lport', priority: 1_000 },
        ...{ match: 'inport == "db.shop"', bandwidth, externalIds: { ...vendor, pod: 'shop/db' } },
      },
    ]);
  });

  it.each<[string, (world: World) => void]>([
    ['while it has no node', (world) => world.pods.set('shop/db', podOf('shop/db', 'blue', '10.17.0.5'))],
    ['while its node has no end of `join`', ({ nodes }) => nodes.clear()],
    [
      'of a subnet with gateways',
      ({ subnets }) =>
        subnets.set('blue', subnetOf('17', { egress: { type: 'centralized', nodes: ['node-1'] } })),
    ],
    ['of a VPC of its own', ({ vpcs }) => vpcs.set('ovn-cluster', { isDefault: false, staticRoutes: [] })],
    [
      'on a network outside',
      ({ subnets }) => subnets.set('blue', subnetOf('17', { underlay: { provider: 'net1', vlan: 1 } })),
    ],
  ])('is in no group %s', (_, change) => {
    const world = createWorld();
    change(world);
    const planned = planPod('shop/db', readerOf(world))!;
    expect(planned).toHaveLength(1);
    expect(planned[0]).not.toHaveProperty('groups');
  });

  it('has nothing without its subnet, or when it is gone', () => {
    const world = createWorld();
    expect(planPod('shop/none', readerOf(world))).toBeUndefined();
    world.subnets.delete('blue');
    expect(planPod('shop/db', readerOf(world))).toBeUndefined();
  });
});
