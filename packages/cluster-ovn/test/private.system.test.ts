/** ovn-trace, and packets between two nodes of OVN, show who reaches the pods of a private subnet. */
import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import {
  ask,
  assertBlocked,
  assertPasses,
  assertRefused,
  pings,
  serveEcho,
  type TestNamespace,
} from '@podwire/testkit';
import { OvnCluster, type OvnNode } from '@podwire/testkit/ovn';
import { LogicalNetwork, packetFrom, withNetwork } from './logical-network.js';
import { createWorld, podOf, subnetOf, type World } from './world.js';

/** `db` and `cache` are in the private `blue`, `api` is in `green`, which it allows, and `web` in the default one. */
function createPrivateWorld(): World {
  const world = createWorld();
  world.subnets.set('blue', subnetOf('17', { allowedRanges: ['10.18.0.0/16'] }));
  world.subnets.set('green', subnetOf('18'));
  world.pods.set('shop/cache', podOf('shop/cache', 'blue', '10.17.0.6', { node: 'node-1' }));
  world.pods.set('shop/api', podOf('shop/api', 'green', '10.18.0.5', { node: 'node-1' }));
  return world;
}

const setAllowed = ({ subnets }: World, allowedRanges: readonly string[] | undefined): unknown =>
  subnets.set('blue', subnetOf('17', { allowedRanges }));

interface Host {
  readonly namespace: TestNamespace;
  readonly address: string;
}

type Hosts = Readonly<Record<'web' | 'api' | 'cache' | 'db' | 'node', Host>>;

async function addPod(node: OvnNode, { pods }: World, id: string): Promise<Host> {
  const { name, namespace, mac, addresses } = pods.get(id)!;
  const address = addresses[0]!;
  const gateway = address.replace(/\d+\.\d+$/, '0.1');
  const port = `${name}.${namespace}`;
  return { namespace: await node.addPod({ port, mac, address: `${address}/16`, gateway }), address };
}

/** A namespace in the place of the node's own interface on the subnet `join`. */
async function addNode(on: OvnNode, { nodes }: World): Promise<Host> {
  const { mac, joinAddresses } = nodes.get('node-1')!;
  const address = joinAddresses[0]!;
  const options = { port: 'node-node-1', mac, address: `${address}/16`, gateway: '100.64.0.1' };
  return { namespace: await on.addPod(options), address };
}

async function addHosts([first, second]: readonly OvnNode[], world: World): Promise<Hosts> {
  return {
    web: await addPod(first!, world, 'shop/web'),
    api: await addPod(first!, world, 'shop/api'),
    cache: await addPod(first!, world, 'shop/cache'),
    node: await addNode(first!, world),
    db: await addPod(second!, world, 'shop/db'),
  };
}

interface Nodes {
  readonly network: LogicalNetwork;
  readonly hosts: Hosts;
}

async function withNodes(world: World, work: (nodes: Nodes) => Promise<void>): Promise<void> {
  const cluster = await OvnCluster.start({ name: 'priv', nodes: 2 });
  try {
    const network = await LogicalNetwork.open(cluster.central, world);
    try {
      const hosts = await addHosts(cluster.nodes, world);
      await network.reachNodes();
      await work({ network, hosts });
    } finally {
      await network.close();
    }
  } finally {
    await cluster.close();
  }
}

async function assertReaches(from: Host, to: Host): Promise<void> {
  await assertPasses(from.namespace, to.namespace, to.address);
  const server = await serveEcho(to.namespace, 'tcp', to.address, 0);
  try {
    const { peer } = await ask(from.namespace, 'tcp', to.address, server.port);
    assert.equal(peer.address, from.address);
  } finally {
    await server.close();
  }
}

test('packets to a private subnet pass from where it allows, and answers to its pods from everywhere', () => {
  const world = createPrivateWorld();
  return withNodes(world, async ({ network, hosts: { web, api, cache, db, node } }) => {
    for (const other of [cache, api, node]) {
      await assertReaches(other, db);
      await assertReaches(db, other);
    }
    await assertReaches(db, web);
    // A reset comes back, too; ICMP of the gateway is an answer of its own.
    await assertRefused(db.namespace, 'tcp', web.address, 9);
    for (const pod of [db, cache]) assert.ok(await pings(pod.namespace, '10.17.0.1'));

    const assertClosed = (to: Host) =>
      assertBlocked(web.namespace, to.namespace, to.address, [], { markers: api.namespace });
    await assertClosed(db);
    await assertClosed(cache);

    setAllowed(world, ['10.18.0.0/16', '10.16.0.0/16']);
    await network.follow('ovn-subnet/blue');
    await network.reachNodes();
    await assertReaches(web, db);
    setAllowed(world, ['10.18.0.0/16']);
    await network.follow('ovn-subnet/blue');
    await network.reachNodes();
    await assertClosed(db);

    setAllowed(world, undefined);
    await network.follow('ovn-subnet/blue');
    await network.reachNodes();
    await assertReaches(web, db);
  });
});

test('both families are closed to others, and open to the outside', () => {
  const world = createPrivateWorld();
  const addRange = (name: string, number: string, rest: object = {}): void => {
    const subnet = world.subnets.get(name)!;
    const range = { cidr: `fd${number}::/64`, gateway: `fd${number}::1` };
    world.subnets.set(name, { ...subnet, ranges: [...subnet.ranges, range], ...rest });
  };
  addRange('join', '64');
  addRange('ovn-default', '16');
  addRange('green', '18');
  addRange('blue', '17', { allowedRanges: ['fd18::/64'] });
  for (const [name, node] of world.nodes)
    world.nodes.set(name, { ...node, joinAddresses: [...node.joinAddresses, `fd64::${name.at(-1)!}`] });
  for (const [id, pod] of world.pods) {
    const [, range, , last] = pod.addresses[0]!.split('.');
    world.pods.set(id, { ...pod, addresses: [...pod.addresses, `fd${range}::${last}`] });
  }
  return withNetwork(world, async (network) => {
    const follow = async (id: string, to: string) => network.trace(await packetFrom(network, world, id, to));
    assert.deepEqual(await follow('shop/api', 'fd17::5'), ['db.shop']);
    assert.deepEqual(await follow('shop/api', '10.17.0.5'), []);
    for (const to of ['fd17::5', '10.17.0.5']) assert.deepEqual(await follow('shop/web', to), []);
    assert.deepEqual(await follow('shop/db', 'fd16::5'), ['web.shop']);
    assert.deepEqual(await follow('shop/db', '10.16.0.5'), ['web.shop']);
    assert.deepEqual(await follow('shop/db', '2001:db8:1::7'), ['node-node-2']);
    assert.deepEqual(await follow('shop/db', '198.51.100.7'), ['node-node-2']);
  });
});

test('a pod on a network outside is closed to it, but for what it allows, and open the other way', () => {
  const world = createPrivateWorld();
  const underlay = { provider: 'net1', vlan: 10 };
  world.subnets.set('blue', subnetOf('17', { underlay, allowedRanges: ['198.51.100.0/24'] }));
  return withNetwork(world, async (network) => {
    const { mac, addresses } = world.pods.get('shop/db')!;
    const router = '00:00:5e:00:53:01';
    const address = addresses[0]!;
    const out = { port: 'db.shop', switch: 'blue', mac, from: address, via: router, to: '203.0.113.7' };
    assert.deepEqual(await network.trace(out), ['localnet.blue']);
    const into = { port: 'localnet.blue', switch: 'blue', mac: router, via: mac, to: address };
    assert.deepEqual(await network.trace({ ...into, from: '203.0.113.7' }), []);
    assert.deepEqual(await network.trace({ ...into, from: '198.51.100.7' }), ['db.shop']);
  });
});

/** Operations of each transaction that changes what ovn-northd reads, other than the count of a barrier. */
const isChange = (operations: readonly object[]): boolean =>
  operations.some((one) => (one as { readonly table?: string }).table !== 'NB_Global');

test('a subnet is closed, changed and opened in one transaction each; its drop ACL stays the same row', () => {
  const world = createPrivateWorld();
  setAllowed(world, undefined);
  return withNetwork(world, async (network) => {
    const transact = mock.method(network.client, 'transact');
    const change = async (allowed: readonly string[] | undefined): Promise<number> => {
      transact.mock.resetCalls();
      setAllowed(world, allowed);
      await network.follow('ovn-subnet/blue');
      return transact.mock.calls.filter(({ arguments: [operations] }) => isChange(operations)).length;
    };
    const findDrops = async (): Promise<string> =>
      (await network.nbctl('--bare', '--columns=_uuid', 'find', 'ACL', 'action=drop')).trim();
    assert.equal(await change(['10.18.0.0/16']), 1);
    const drop = await findDrops();
    assert.match(drop, /^[-0-9a-f]{36}$/);
    for (const allowed of [['10.16.0.0/16'], ['10.16.0.0/16', '10.18.0.0/16'], []]) {
      assert.equal(await change(allowed), 1);
      assert.equal(await findDrops(), drop);
    }
    assert.equal(await change(undefined), 1);
    assert.equal(await network.count('ACL'), 0);
  });
});
