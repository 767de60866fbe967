import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import {
  assertArrives,
  assertBlocked,
  assertSameSnapshot,
  type Hop,
  pings,
  takeSnapshot,
  type TestNamespace,
} from '@podwire/testkit';
import { call, createFabric, type Fabric, type FabricNode, type FabricPod } from './fabric-world.js';

suite('who may put packets into the tunnels', () => {
  let fabric: Fabric;
  let here: FabricNode;
  let there: FabricNode;
  let victim: FabricPod;

  before(async () => {
    fabric = await createFabric({ name: 'guard', encapsulation: 'vxlan' });
    [here, there] = [fabric.nodes[0]!, fabric.nodes[1]!];
    victim = await here.addPod();
  });
  after(() => fabric.close());

  /** The sender of forged tunnel packets pings the node outside of the tunnel. */
  const overHere = (): readonly Hop[] => [{ namespace: here.host.namespace, address: here.ipv4 }];

  test('a stranger that speaks VXLAN is not heard, a peer is', async () => {
    const spoofed = '10.244.2.50'; // of a block of node 2, so strict rp_filter has nothing against it
    await makeForgedTunnel(fabric.stranger, here, victim, spoofed, '192.0.2.66');
    const path = [fabric.stranger, victim.namespace, victim.ipv4] as const;
    await assertBlocked(...path, overHere(), { source: spoofed });
    const known = ['element', 'inet', 'podwire', 'tunnelpeers4', '{ 192.0.2.66 }'];
    await here.host.run(['nft', 'add', ...known]);
    await assertArrives(...path, { source: spoofed }); // not being known was what stopped it
    await here.host.run(['nft', 'delete', ...known]);
  });

  test('a pod cannot speak VXLAN in the name of its node', async () => {
    const attacker = await there.addPod();
    const spoofed = '10.244.2.51';
    await makeForgedTunnel(attacker.namespace, here, victim, spoofed, attacker.ipv4);
    const path = [attacker.namespace, victim.namespace, victim.ipv4] as const;
    await assertBlocked(...path, overHere(), { source: spoofed });
    const chain = ['chain', 'inet', 'podwire', 'from_pod'];
    await there.host.run(['nft', 'flush', ...chain]);
    await assertArrives(...path, { source: spoofed }); // the rule about pods was what stopped it
  });

  test('tunnel packets are not tracked', async () => {
    assert.ok(await pings(here.host.namespace, (await fabric.nodes[2]!.addPod()).ipv4));
    for (const node of [here, fabric.nodes[2]!]) {
      const tracked = await node.host.run(['conntrack', '-L', '-p', 'udp']);
      assert.doesNotMatch(tracked, /dport=4789/);
    }
  });

  test('other users of the VXLAN port are left alone', async () => {
    const other = (remote: string) =>
      `link add other type vxlan id 77 dstport 4789 remote ${remote} nolearning`;
    await here.host.namespace.ip(
      other('192.0.2.66'),
      'link set other up',
      'addr add 172.31.7.1/24 dev other',
    );
    await fabric.stranger.ip(other('192.0.2.1'), 'link set other up', 'addr add 172.31.7.2/24 dev other');
    assert.ok(await pings(fabric.stranger, '172.31.7.1'));
    await here.host.namespace.ip('link delete other');
  });
});

suite('peers come and go', () => {
  let fabric: Fabric;
  let here: FabricNode;

  before(async () => (fabric = await createFabric({ name: 'peers', encapsulation: 'vxlan-cross-subnet' })));
  before(() => void (here = fabric.nodes[0]!));
  after(() => fabric.close());

  const picture = () => takeSnapshot(here.host.namespace);

  test('a peer that is removed leaves nothing, and nothing foreign is touched', async () => {
    const others = fabric.nodes.slice(1, 3);
    const far = fabric.nodes[3]!;
    await here.meet(others);
    await here.host.namespace.ip(
      'link add foreign type vxlan id 99 dstport 8472 nolearning',
      'link set foreign addrgenmode none',
      'link set foreign up',
      'route add 10.77.0.0/24 via 192.0.2.3 proto static',
      'route add 10.244.4.64/26 via 192.0.2.3 proto static',
      'neigh add 192.0.2.200 lladdr 02:00:00:00:02:00 dev eth0 nud permanent',
    );
    await here.host.run(['bridge', 'fdb', 'add', '02:00:00:00:00:99', 'dev', 'foreign', 'dst', '192.0.2.99']);
    const before = await picture();
    const [peer] = here.ownedPeers([far]);
    await here.engine.apply(peer!, call());
    assert.match(await here.host.run(['ip', 'route', 'get', '10.244.4.9']), /dev podwire-vx/);
    await here.engine.remove(peer!, call());
    assertSameSnapshot(before, await picture());
    await here.meet([...others, far]);
    await here.meet(others);
    assertSameSnapshot(before, await picture());
  });

  test('an address that is lent leads to the borrower, from everywhere', async () => {
    const [owner, borrower, third] = fabric.nodes.slice(1);
    const lent = { ipv4: '10.244.2.60', ipv6: 'fd00:244:0:2::3c' };
    const pod = await borrower!.addPod(lent);
    const blocks = [...borrower!.peer.blocks, '10.244.2.60/32', 'fd00:244:0:2::3c/128'];
    const borrowing = { ...borrower!, peer: { ...borrower!.peer, blocks } };
    await owner!.meet([here, borrowing, third!]);
    await here.meet([owner!, borrowing, third!]);
    await third!.meet([here, owner!, borrowing]);
    await borrower!.meet([here, owner!, third!]);
    for (const node of [here, owner!, third!]) {
      const client = await node.addPod();
      assert.ok(await pings(client.namespace, pod.ipv4), `from node ${node.number}`);
      assert.ok(await pings(client.namespace, pod.ipv6), `from node ${node.number}`);
    }
  });
});

/** A VXLAN device made by hand, whose other end is a node that does not know it. */
async function makeForgedTunnel(
  from: TestNamespace,
  target: FabricNode,
  victim: FabricPod,
  source: string,
  local: string,
): Promise<void> {
  const { mac } = target.view.tunnel!;
  await from.ip(
    `link add forged type vxlan id 4096 dstport 4789 local ${local} nolearning`,
    'link set forged addrgenmode none',
    'link set forged up mtu 1300',
    `addr add ${source}/32 dev forged`,
    `route add ${victim.ipv4}/32 dev forged`,
    `neigh add ${victim.ipv4} lladdr ${mac} dev forged nud permanent`,
  );
  await from.run(['bridge', 'fdb', 'add', mac, 'dev', 'forged', 'dst', target.ipv4]);
}
