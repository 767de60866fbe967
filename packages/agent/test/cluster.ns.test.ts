/** Real agents on machines of their own with one real etcd: pods reach each other, also while the store is away. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { containsAddress, parseAddress, parsePrefix } from '@podwire/addresses';
import { blockKind, type PoolPart } from '@podwire/cluster-state';
import { ask, assertSameSnapshot, eventually, serveEcho, startAgent, takeSnapshot } from '@podwire/testkit';
import {
  agentEntry,
  assertReaches,
  createFixture,
  keys,
  type Fixture,
  untilRouted,
} from './fakes/cluster-fixture.js';
import { askApi, callPlugin } from './fakes/plugin-client.js';

const pools = (encapsulation: NonNullable<PoolPart['encapsulation']>): PoolPart[] => [
  { name: 'v4', cidr: '10.244.0.0/16', encapsulation },
  { name: 'v6', cidr: 'fd00:244::/108', encapsulation },
];

for (const [fabric, segmentOf] of [
  ['direct', () => 0],
  ['vxlan', () => 0],
  ['vxlan-cross-subnet', (index: number) => index],
] as const) {
  describe(`two machines, ${fabric}`, () => {
    let fixture: Fixture;
    before(
      async () =>
        (fixture = await createFixture({ name: fabric.slice(0, 8), pools: pools(fabric), segmentOf })),
    );
    after(async () => fixture?.close());

    test('pods and machines reach pods of the other one, and pods keep their own addresses', async () => {
      const [one, two] = fixture.machines as [(typeof fixture.machines)[0], (typeof fixture.machines)[0]];
      const [here, there] = [await one.add(), await two.add()];
      await untilRouted(one, there);
      await untilRouted(two, here);
      await assertReaches(here.namespace, there);
      await assertReaches(there.namespace, here);
      await assertReaches(one.host.namespace, there);
      const server = await serveEcho(there.namespace, 'tcp', there.addresses[0]!, 0);
      const { peer } = await ask(here.namespace, 'tcp', there.addresses[0]!, server.port);
      assert.equal(peer.address, here.addresses[0]);
      await server.close();
      const { peers } = await askApi(one.agent.apiSocket, '/v1/peers');
      assert.deepEqual(
        (peers as { name: string; problems: string[] }[]).map(({ name, problems }) => [name, problems]),
        [['n2', []]],
      );
      await one.del(here);
      await two.del(there);
    });

    test('while etcd is down pods come, go and speak, and an agent that restarts changes nothing', async () => {
      const [one, two] = fixture.machines as [(typeof fixture.machines)[0], (typeof fixture.machines)[0]];
      const [here, there] = [await one.add(), await two.add()];
      await untilRouted(one, there);
      await untilRouted(two, here);
      await fixture.etcd.members[0]!.kill9();
      const [fresh, other] = [await one.add(), await one.add()];
      await one.del(other);
      await assertReaches(there.namespace, fresh);
      await one.agent.stop();
      const before = await takeSnapshot(one.host.namespace);
      await one.agent.start();
      assertSameSnapshot(before, await takeSnapshot(one.host.namespace));
      const last = await one.add();
      await assertReaches(there.namespace, last);
      await assertReaches(last.namespace, there);
      assert.equal((await one.status()).cluster.store.connected, false);
      await fixture.etcd.members[0]!.start();
      await eventually('n1 is back', async () => (await one.status()).cluster.standing === 'registered');
      await eventually('n1 has reported', async () => (await one.status()).cluster.unreported === 0);
      for (const pod of [here, fresh, last]) await one.del(pod);
      await two.del(there);
    });

    test('a machine whose link was down for a moment has its ways again', async () => {
      const [one, two] = fixture.machines as [(typeof fixture.machines)[0], (typeof fixture.machines)[0]];
      const [here, there] = [await one.add(), await two.add()];
      await untilRouted(one, there);
      await untilRouted(two, here);
      await one.host.bounce();
      await untilRouted(one, there);
      await assertReaches(here.namespace, there);
      await assertReaches(there.namespace, here);
      await one.del(here);
      await two.del(there);
    });

    test('a node that is gone leaves no way behind', async () => {
      const [one, two] = fixture.machines as [(typeof fixture.machines)[0], (typeof fixture.machines)[0]];
      const there = await two.add();
      await untilRouted(one, there);
      await two.del(there);
      await two.agent.stop();
      assert.equal((await one.status()).cluster.peers.count, 1);
      await eventually('n2 holds no lease', async () => {
        const { unreachable } = (await one.status()).cluster.peers;
        return unreachable?.map(({ name }) => name).join(' ') === 'n2';
      });
      await fixture.delete(keys.node('n2'));
      await eventually('n2 is forgotten', async () => (await one.status()).cluster.peers.count === 0);
      const routes = await one.host.run(['ip', 'route', 'show', 'table', 'all']);
      assert.doesNotMatch(routes, /onlink|via 10\.99\.\d+\.11/);
      await two.agent.start();
      await eventually('n2 is back', async () => (await one.status()).cluster.peers.count === 1);
    });
  });
}

describe('faults', () => {
  let fixture: Fixture;
  before(
    async () =>
      (fixture = await createFixture({ name: 'faults', pools: pools('vxlan'), agents: 2, hosts: 3 })),
  );
  after(async () => fixture?.close());

  test('a second agent of a name is told so, and takes over when the first has ended', async () => {
    const [host, first] = [fixture.hosts.hosts[2]!, fixture.machines[1]!];
    await eventually(
      'n2 is registered',
      async () => (await first.status()).cluster.standing === 'registered',
    );
    const [socket, log] = ['agent/cni.sock', 'agent/log'].map((name) => path.join(host.directory, name));
    const pod = host.addPod();
    const call = (command: string) => callPlugin(socket!, { command, id: pod.name, netns: pod.path });
    let isReady = false;
    const second = startAgent(host, { entry: agentEntry, config: fixture.configOf('n2'), timeout: 120_000 });
    const ready = second.then(() => (isReady = true));
    ready.catch(() => undefined);
    const hasLogged = (text: string) => async () =>
      Promise.resolve(fs.existsSync(log!) && fs.readFileSync(log!, 'utf8').includes(text));
    // Its socket is there a moment earlier, between bind() and listen(), and refuses calls.
    await eventually('the second agent listens', hasLogged('"msg":"listening"'));
    assert.match((await call('ADD'))?.json.msg ?? '', /NODE_NAME_TAKEN: .*is taken by another agent/);
    await eventually('its log says so too', hasLogged('NODE_NAME_TAKEN'));
    assert.equal((await call('DEL'))?.ok, true);
    assert.equal(isReady, false);
    await first.agent.stop();
    await ready;
    await eventually('the other agent has the name', async () => (await call('ADD'))?.ok === true);
    assert.equal((await call('DEL'))?.ok, true);
  });

  test('a node restored from an old image hands out nothing of what is another’s', async () => {
    const one = fixture.machines[0]!;
    const pod = await one.add();
    await one.agent.stop();
    const image = path.join(one.host.directory, 'image');
    fs.cpSync(one.agent.stateDirectory, image, { recursive: true });
    const lost = blocksIn(image).filter((cidr) => !cidr.includes(':'));
    for (const cidr of lost) {
      const block = (await fixture.block(cidr))!;
      const other = { node: 'n9', instance: 'other', state: 'confirmed' } as const;
      await fixture.put(blockKind, keys.block(cidr), { ...block, ...other });
    }
    fs.rmSync(one.agent.stateDirectory, { recursive: true });
    fs.cpSync(image, one.agent.stateDirectory, { recursive: true });
    await one.agent.start();
    await eventually('the pod is named', async () =>
      (await one.status()).cluster.problems.some((text) => text.includes('NODE_STATE_STALE')),
    );
    const fresh = await one.add();
    const { cluster } = await one.status();
    const naming = cluster.problems.filter((text) => text.includes(pod.addresses[0]!));
    assert.equal(naming.length, 1, naming.join('\n'));
    assert.ok(cluster.holdings.every(({ cidr }) => !lost.includes(cidr)));
    const address = parseAddress(fresh.addresses[0]!);
    assert.ok(!lost.some((cidr) => containsAddress(parsePrefix(cidr), address)));
    await one.del(fresh);
    await one.del(pod);
  });

  for (const [what, begin, end] of [
    ['etcd hangs', () => fixture.etcd.members[0]!.freeze(), () => fixture.etcd.members[0]!.thaw()],
    ['the cable is pulled', () => fixture.machines[0]!.host.cut(), () => fixture.machines[0]!.host.restore()],
  ] as const) {
    test(`${what}: pods come and go, an agent that was killed comes back, and all is well afterwards`, async () => {
      const one = fixture.machines[0]!;
      const pod = await one.add();
      await begin();
      try {
        const other = await one.add();
        await one.del(other);
        await one.agent.kill9();
        await one.agent.start();
        const fresh = await one.add();
        await assertReaches(one.host.namespace, fresh);
        await assertReaches(pod.namespace, fresh);
        await one.del(fresh);
      } finally {
        await end();
      }
      await eventually('the node is back', async () => {
        const { cluster, ready } = await one.status();
        return (
          ready && cluster.standing === 'registered' && cluster.store.connected && cluster.unreported === 0
        );
      });
      await one.del(pod);
    });
  }

  test('a pool that is deleted while it is in use: pods stay, no new ones, and it is said', async () => {
    const one = fixture.machines[0]!;
    const pod = await one.add();
    await fixture.delete(keys.pool('v6'));
    await eventually('the pool is named', async () =>
      (await one.status()).cluster.problems.some((text) => text.includes('pool v6')),
    );
    await assertReaches(one.host.namespace, pod);
    await eventually('nothing is handed out of the pool', async () => {
      const fresh = await one.add();
      await one.del(fresh);
      return fresh.addresses.length === 1;
    });
    await one.del(pod);
  });
});

function blocksIn(directory: string): string[] {
  const file = JSON.parse(fs.readFileSync(path.join(directory, 'holdings.json'), 'utf8')) as {
    holdings: { cidr: string }[];
  };
  return file.holdings.map(({ cidr }) => cidr);
}
