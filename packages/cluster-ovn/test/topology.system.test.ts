/** ovn-northd and ovn-trace say where packets go in the logical network that is planned. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gatewayMac, type Packet, packetFrom, withNetwork } from './logical-network.js';
import { createWorld, podOf, subnetOf } from './world.js';

test('pods reach each other and the nodes, and leave through the node that they are on', () => {
  const world = createWorld();
  return withNetwork(world, async (network) => {
    const follow = async (id: string, to: string) => network.trace(await packetFrom(network, world, id, to));
    assert.deepEqual(await follow('shop/web', '10.17.0.5'), ['db.shop']);
    assert.deepEqual(await follow('shop/db', '10.16.0.5'), ['web.shop']);
    assert.deepEqual(await follow('shop/web', '198.51.100.7'), ['node-node-1']);
    assert.deepEqual(await follow('shop/db', '198.51.100.7'), ['node-node-2']);
    assert.deepEqual(await follow('shop/db', '192.0.2.1'), ['node-node-1']);
    const node = world.nodes.get('node-1')!;
    const fromNode: Packet = {
      ...{
        port: 'node-node-1',
        switch: 'join',
        mac: node.mac,
        from: node.joinAddresses[0]!,
        to: '10.17.0.5',
      },
      via: await gatewayMac(network, 'ovn-cluster-join'),
    };
    assert.deepEqual(await network.trace(fromNode), ['db.shop']);
  });
});

test('pods with addresses of both families leave through their node with either', () => {
  const world = createWorld();
  const join = world.subnets.get('join')!;
  const ranges = [...join.ranges, { cidr: 'fd64::/64', gateway: 'fd64::1' }];
  world.subnets.set('join', { ...join, ranges });
  const blue = subnetOf('17');
  world.subnets.set('blue', { ...blue, ranges: [...blue.ranges, { cidr: 'fd17::/64', gateway: 'fd17::1' }] });
  world.nodes.set('node-2', {
    ...{ mac: '00:00:00:00:64:02', joinAddresses: ['100.64.0.3', 'fd64::3'] },
    addresses: ['192.0.2.2', '2001:db8::2'],
  });
  const addresses = ['10.17.0.5', 'fd17::5'];
  world.pods.set('shop/db', podOf('shop/db', 'blue', '10.17.0.5', { node: 'node-2', addresses }));
  return withNetwork(world, async (network) => {
    const packet = await packetFrom(network, world, 'shop/db', '198.51.100.7');
    assert.deepEqual(await network.trace(packet), ['node-node-2']);
    for (const to of ['2001:db8:1::7', '2001:db8::2'])
      assert.deepEqual(await network.trace({ ...packet, from: 'fd17::5', to }), ['node-node-2']);
  });
});

test('a pod that comes, moves to another node and goes changes its own port alone', () => {
  const world = createWorld();
  return withNetwork(world, async (network) => {
    const policies = await network.count('Logical_Router_Policy');
    for (const node of ['node-1', 'node-2']) {
      world.pods.set('shop/new', podOf('shop/new', 'blue', '10.17.0.9', { node }));
      await network.follow('ovn-pod/shop/new');
      const packet = await packetFrom(network, world, 'shop/new', '198.51.100.7');
      assert.deepEqual(await network.trace(packet), [`node-${node}`]);
    }
    assert.equal(await network.count('Logical_Router_Policy'), policies);
    const ports = await network.count('Logical_Switch_Port');
    world.pods.delete('shop/new');
    await network.follow('ovn-pod/shop/new');
    assert.equal(await network.count('Logical_Switch_Port'), ports - 1);
    assert.equal(await network.count('Logical_Router_Policy'), policies);
  });
});

test('pods of a subnet with gateways leave through those of them that are named', () => {
  const world = createWorld();
  const name = (nodes: readonly string[]) =>
    world.subnets.set('blue', subnetOf('17', { egress: { type: 'centralized', nodes } }));
  name(['node-1']);
  return withNetwork(world, async (network) => {
    const leave = async () => network.trace(await packetFrom(network, world, 'shop/db', '198.51.100.7'));
    assert.deepEqual(await leave(), ['node-node-1']);
    name(['node-2']);
    await network.follow('ovn-subnet/blue');
    assert.deepEqual(await leave(), ['node-node-2']);
    name([]);
    await network.follow('ovn-subnet/blue');
    assert.deepEqual(await leave(), []);
    const packet = await packetFrom(network, world, 'shop/db', '10.16.0.5');
    assert.deepEqual(await network.trace(packet), ['web.shop']);
  });
});

test('a VPC of its own may have the addresses of others, and reaches neither them nor the nodes', () => {
  const world = createWorld();
  world.vpcs.set('red', {
    isDefault: false,
    staticRoutes: [{ policy: 'policyDst', cidr: '0.0.0.0/0', nextHopIP: '10.17.0.254' }],
  });
  world.subnets.set('red-1', subnetOf('17', { vpc: 'red' }));
  world.subnets.set('red-2', subnetOf('16', { vpc: 'red' }));
  world.pods.set('red/a', podOf('red/a', 'red-1', '10.17.0.5', { node: 'node-1' }));
  world.pods.set('red/b', podOf('red/b', 'red-2', '10.16.0.5', { node: 'node-2' }));
  world.pods.set('red/gateway', podOf('red/gateway', 'red-1', '10.17.0.254', { node: 'node-2' }));
  return withNetwork(world, async (network) => {
    const follow = async (id: string, to: string) => network.trace(await packetFrom(network, world, id, to));
    assert.deepEqual(await follow('red/a', '10.16.0.5'), ['b.red']);
    assert.deepEqual(await follow('shop/db', '10.16.0.5'), ['web.shop']);
    assert.deepEqual(await follow('red/b', '198.51.100.7'), ['gateway.red']);
    assert.deepEqual(await follow('red/b', '192.0.2.1'), ['gateway.red']);
  });
});

test('pods on a network outside are on its VLAN, and no router is between', () => {
  const world = createWorld();
  world.subnets.set('blue', subnetOf('17', { underlay: { provider: 'net1', vlan: 10 } }));
  return withNetwork(world, async (network) => {
    const { mac, addresses } = world.pods.get('shop/db')!;
    const to = { via: '00:00:5e:00:53:01', to: '198.51.100.7' };
    const packet = { port: 'db.shop', switch: 'blue', mac, from: addresses[0]!, ...to };
    assert.deepEqual(await network.trace(packet), ['localnet.blue']);
    assert.equal((await network.nbctl('get', 'Logical_Switch_Port', 'localnet.blue', 'tag')).trim(), '10');
  });
});

test('a node that comes brings rows of its own to each subnet, and takes them with it', () => {
  const world = createWorld();
  return withNetwork(world, async (network) => {
    const before = [await network.count('Logical_Router_Policy'), await network.count('Port_Group')];
    world.nodes.set('node-3', {
      ...{ mac: '00:00:00:00:64:03', joinAddresses: ['100.64.0.4'], addresses: ['192.0.2.3'] },
    });
    await network.noteNodes('node-3');
    const after = [await network.count('Logical_Router_Policy'), await network.count('Port_Group')];
    // One for its address, and one for each of three subnets.
    assert.deepEqual(after, [before[0]! + 4, before[1]! + 3]);
    world.nodes.delete('node-3');
    await network.noteNodes('node-3');
    const last = [await network.count('Logical_Router_Policy'), await network.count('Port_Group')];
    assert.deepEqual(last, before);
  });
});

test('a controller that starts again writes nothing, and puts right what was changed meanwhile', () => {
  const world = createWorld();
  return withNetwork(world, async (network) => {
    assert.deepEqual(await network.restart(), []);
    await network.nbctl('lsp-del', 'db.shop');
    await network.nbctl('ls-add', 'foreign');
    const changes = await network.restart();
    assert.deepEqual(
      changes.map(({ action, what }) => [action, what]),
      [['repaired', 'port db.shop of logical switch blue']],
    );
    assert.equal(await network.count('Logical_Switch'), 4);
  });
});
