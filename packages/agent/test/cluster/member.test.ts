import { blockKind, nodeKind, nodeLeaseKind } from '@podwire/cluster-state';
import { PodwireError } from '@podwire/errors';
import { decodeObject, encodeObject } from '@podwire/store';
import { describe, expect, test } from 'vitest';
import {
  createMemoryFiles,
  createTestCluster,
  fakeOf,
  keys,
  type TestCluster,
  type TestNode,
  until,
} from '../fakes/cluster.js';
import { createFakeAddressing } from '../fakes/fake-addressing.js';
import { containing, matching } from '../fakes/matchers.js';
import { ordinaryHost, type TestAnswer } from '../fakes/harness.js';

const pools = { v4: { name: 'v4', cidr: '10.244.0.0/16' }, v6: { name: 'v6', cidr: 'fd00:244::/116' } };

async function createCluster(
  encapsulation: 'direct' | 'vxlan' = 'direct',
  createAddressing?: Parameters<typeof createTestCluster>[0],
): Promise<TestCluster> {
  const cluster = createTestCluster(createAddressing);
  await cluster.putPool({ ...pools.v4, encapsulation });
  await cluster.putPool({ ...pools.v6, encapsulation });
  return cluster;
}

async function startNode(cluster: TestCluster, ...args: Parameters<TestCluster['node']>): Promise<TestNode> {
  const node = cluster.node(...args);
  await node.start();
  return node;
}

const addressesOf = ({ json }: TestAnswer): string[] =>
  (json['ips'] as { address: string }[]).map(({ address }) => address);

/** Blocks of the node, in order. */
const blocksOf = ({ addressing }: TestNode): string[] =>
  addressing
    .affinities()
    .map(({ cidr }) => cidr)
    .sort();

const isLedTo = (from: TestNode, to: TestNode): boolean =>
  blocksOf(to).length > 1 && blocksOf(to).every((cidr) => routesTo(from, cidr).length === 1);

const routesTo = ({ engine }: TestNode, destination: string): unknown[] =>
  [...engine.present.values()]
    .map(({ resource }) => resource)
    .filter((resource) => resource.kind === 'route' && resource.destination === destination);

async function read<T>(
  cluster: TestCluster,
  key: string,
  decode: (text: string) => T,
): Promise<T | undefined> {
  const item = await cluster.store.get(key);
  return item === undefined ? undefined : decode(item.value);
}
const nodeObject = (cluster: TestCluster, name: string) =>
  read(cluster, keys.node(name), (text) => decodeObject(nodeKind, name, text));
const presence = (cluster: TestCluster, name: string) =>
  read(cluster, keys.nodeLease(name), (text) => decodeObject(nodeLeaseKind, name, text));

describe('a node that joins', () => {
  test('is present, is registered, and serves pods from a block of its own', async () => {
    const cluster = await createCluster();
    const node = await startNode(cluster, 'n1', { cluster: '  labels: { zone: a }' });
    const answer = await node.call('ADD');
    expect(addressesOf(answer)).toEqual([
      matching(/^10\.244\.\d+\.\d+\/32$/),
      matching(/^fd00:244::.*\/128$/),
    ]);
    const reported = async (): Promise<string> =>
      JSON.stringify((await cluster.store.list('/podwire/ledgers/')).items);
    await until(async () => (await reported()).includes(addressesOf(answer)[0]!.split('/')[0]!));
    await until(() => nodeObject(cluster, 'n1'));
    expect(await nodeObject(cluster, 'n1')).toMatchObject({ name: 'n1', labels: { zone: 'a' }, mtu: 1450 });
    expect(await presence(cluster, 'n1')).toMatchObject({ instance: node.member.identity.instance });
    expect((await node.call('DEL')).ok).toBe(true);
    await until(async () => !(await reported()).includes('podwire,c1,eth0'));
  });

  test('an agent that stops takes its presence back and leaves the node', async () => {
    const cluster = await createCluster();
    const node = await startNode(cluster, 'n1');
    await until(() => nodeObject(cluster, 'n1'));
    await node.stop();
    expect(await presence(cluster, 'n1')).toBeUndefined();
    expect(await nodeObject(cluster, 'n1')).toBeDefined();
  });

  test('a restart writes nothing that is news to peers', async () => {
    const cluster = await createCluster('vxlan');
    const node = await startNode(cluster, 'n1');
    await until(async () => (await nodeObject(cluster, 'n1'))?.tunnel?.ipv6);
    const before = await cluster.store.get(keys.node('n1'));
    await node.stop();
    const after = node.again();
    await after.start();
    await after.call('ADD');
    await until(() => after.member.registration.state.kind === 'registered');
    expect((await cluster.store.get(keys.node('n1')))?.revision).toBe(before?.revision);
    expect(after.member.identity).toEqual(node.member.identity);
  });

  test('has an end of tunnels out of its own blocks, which no pod gets', async () => {
    const cluster = await createCluster('vxlan');
    const node = await startNode(cluster, 'n1');
    await until(async () => (await nodeObject(cluster, 'n1'))?.tunnel?.ipv6);
    const { tunnel } = (await nodeObject(cluster, 'n1'))!;
    expect([tunnel?.ipv4, tunnel?.ipv6]).toEqual([containing('10.244.'), containing('fd00:244::')]);
    const pods = await Promise.all(['c1', 'c2', 'c3'].map((id) => node.call('ADD', { id })));
    expect(pods.flatMap(addressesOf)).not.toContain(`${tunnel?.ipv4}/32`);
    await until(() => JSON.stringify(node.engine.of('node')).includes(`"${tunnel?.ipv4}/32"`));
  });

  test('uses an end of tunnels that could not be written down, and writes it when there is room', async () => {
    const cluster = await createCluster('vxlan');
    const files = createMemoryFiles();
    let isFull = false;
    const node = cluster.node('n1', {
      files: {
        ...files,
        write(name, text) {
          if (isFull && name === 'node.json') throw new PodwireError('RECORD_IO', 'ENOSPC');
          files.write(name, text);
        },
      },
    });
    isFull = true;
    await node.start();
    await until(async () => (await nodeObject(cluster, 'n1'))?.tunnel?.ipv6);
    const { tunnel } = (await nodeObject(cluster, 'n1'))!;
    expect(node.member.problems()).toEqual([containing('RECORD_IO: ENOSPC')]);
    isFull = false;
    await node.reconciler.run();
    expect(files.read('node.json')).toContain(`"${tunnel?.ipv4}"`);
    expect(node.member.problems()).toEqual([]);
  });
});

describe('two agents of one name', () => {
  test('the second one is told whose the name is, and takes over when the first ends', async () => {
    const cluster = await createCluster();
    const first = await startNode(cluster, 'n1', { cluster: '  lease: 1s' });
    await until(() => first.member.registration.state.kind === 'registered');
    const second = await startNode(cluster, 'n1', { cluster: '  lease: 1s' });
    const refused = await second.call('ADD');
    expect(refused.json).toMatchObject({ code: 11, msg: containing('NODE_NAME_TAKEN') });
    expect(refused.json.msg).toContain(first.member.identity.instance);
    expect((await second.call('STATUS')).json).toMatchObject({ code: 50 });
    expect((await second.call('DEL')).ok).toBe(true);
    expect((await first.call('ADD')).ok).toBe(true);
    await first.stop();
    await until(async () => (await second.call('ADD', { id: 'c2' })).ok);
  });

  test('a first one that dies is followed when its lease has ended', { tags: ['long'] }, async () => {
    const cluster = await createCluster();
    const first = await startNode(cluster, 'n1', { cluster: '  lease: 1s' });
    await until(() => first.member.registration.state.kind === 'registered');
    // Its lease lives on until nothing renews it any more, however long the second one takes to start.
    const second = await startNode(cluster, 'n1', { cluster: '  lease: 1s' });
    expect((await second.call('ADD')).json.msg).toContain('NODE_NAME_TAKEN');
    first.store.cut();
    await until(async () => (await second.call('ADD')).ok);
    // The first one comes back to find that it is not the node any more.
    first.store.restore();
    await until(async () => (await first.call('ADD', { id: 'c9' })).json.msg?.includes('NODE_NAME_TAKEN'));
    expect((await first.call('DEL', { id: 'c9' })).ok).toBe(true);
  });
});

describe('without the store', () => {
  test(
    'an agent goes on with its blocks, and is present again by itself afterwards',
    { tags: ['long'] },
    async () => {
      const cluster = await createCluster();
      const node = await startNode(cluster, 'n1', { cluster: '  lease: 1s' });
      await node.call('ADD');
      node.store.cut();
      expect((await node.call('ADD', { id: 'c2' })).ok).toBe(true);
      expect((await node.call('DEL', { id: 'c2' })).ok).toBe(true);
      await until(async () => (await presence(cluster, 'n1')) === undefined);
      await until(() => node.member.registration.state.kind === 'away');
      expect((await node.call('ADD', { id: 'c3' })).ok).toBe(true);
      node.store.restore();
      await until(() => presence(cluster, 'n1'));
    },
  );

  test('an agent that starts serves from what it had', async () => {
    const cluster = await createCluster();
    const node = await startNode(cluster, 'n1');
    await node.call('ADD');
    await node.stop();
    const after = node.again({ cut: true });
    await after.start();
    const again = addressesOf(await after.call('ADD', { id: 'c2' }));
    expect(again).toHaveLength(2);
    expect(blocksOf(after)).toEqual(blocksOf(node));
    expect((await after.call('DEL', { id: 'c1' })).ok).toBe(true);
    after.store.restore();
    await until(() => presence(cluster, 'n1'));
  });

  test('an agent that knows nothing says so, removes what there is, and begins when the store is there', async () => {
    const cluster = await createCluster();
    const node = await startNode(cluster, 'n1');
    await node.call('ADD');
    await node.stop();
    const after = node.again({ cut: true, files: createMemoryFiles() });
    await after.start();
    expect((await after.call('ADD', { id: 'c2' })).json).toMatchObject({
      code: 11,
      msg: containing('AGENT_NOT_READY: the store is away'),
    });
    expect((await after.call('DEL', { id: 'c1' })).ok).toBe(true);
    after.store.restore();
    await until(async () => (await after.call('ADD', { id: 'c2' })).ok);
  });

  test('a fenced node hands out nothing and removes as ever', async () => {
    const cluster = await createCluster('direct', createFakeAddressing);
    const node = await startNode(cluster, 'n1');
    await node.call('ADD');
    fakeOf(node).fenced = true;
    expect((await node.call('ADD', { id: 'c2' })).json.msg).toContain('NODE_FENCED');
    expect((await node.call('STATUS')).json).toMatchObject({ code: 50 });
    expect((await node.call('DEL')).ok).toBe(true);
  });
});

describe('peers', () => {
  test.each(['direct', 'vxlan'] as const)(
    'are reached with %s, and go with their node object',
    async (fabric) => {
      const cluster = await createCluster(fabric);
      const [one, two] = [await startNode(cluster, 'n1'), await startNode(cluster, 'n2')];
      await one.call('ADD');
      await two.call('ADD');
      await until(() => isLedTo(one, two) && isLedTo(two, one));
      const [block] = blocksOf(two) as [string];
      expect(one.engine.violations).toEqual([]);
      // Merely absent: its pods work as before.
      await two.stop();
      await until(async () => (await presence(cluster, 'n2')) === undefined);
      await one.reconciler.run();
      expect(routesTo(one, block)).toHaveLength(1);
      await cluster.store.delete(keys.node('n2'));
      await until(() => routesTo(one, block).length === 0);
      await one.reconciler.run();
      expect([...one.engine.present.values()].filter(({ owner }) => owner.startsWith('peer:'))).toEqual([]);
    },
  );

  test('a block that goes from one peer to another is followed', async () => {
    const cluster = await createCluster('direct', createFakeAddressing);
    const one = await startNode(cluster, 'n1');
    const [two, three] = [await startNode(cluster, 'n2'), await startNode(cluster, 'n3')];
    await two.call('ADD');
    await until(() => isLedTo(one, two));
    const [cidr] = blocksOf(two) as [string];
    const block = { cidr, state: 'confirmed' as const, claimedAt: 1, loans: [] };
    await cluster.store.put(keys.block(block.cidr), encodeObject(blockKind, { ...block, node: 'n3' }));
    const via = three.member.facts.underlay?.ipv4?.split('/')[0];
    await until(() => JSON.stringify(routesTo(one, cidr)).includes(`"${via}"`));
    expect(routesTo(one, cidr)).toHaveLength(1);
  });

  test('an agent that starts without the store leaves what leads to peers as it is', async () => {
    const cluster = await createCluster('vxlan');
    const [one, two] = [await startNode(cluster, 'n1'), await startNode(cluster, 'n2')];
    await one.call('ADD');
    await two.call('ADD');
    await until(() => isLedTo(one, two));
    const [block] = blocksOf(two) as [string];
    await one.stop();
    const before = [...one.engine.present.keys()].sort();
    const after = one.again({ cut: true });
    await after.start();
    await after.reconciler.run();
    expect([...after.engine.present.keys()].sort()).toEqual(before);
    // Changes made meanwhile are followed as soon as the store is back.
    await cluster.store.delete(keys.node('n2'));
    after.store.restore();
    await until(() => routesTo(after, block).length === 0);
  });

  test('are spared by an agent that has lost what it knew of them, until the store has told', async () => {
    const cluster = await createCluster('vxlan');
    const one = await startNode(cluster, 'n1');
    const [two, three] = [await startNode(cluster, 'n2'), await startNode(cluster, 'n3')];
    for (const node of [one, two, three]) await node.call('ADD');
    await until(() => isLedTo(one, two) && isLedTo(one, three));
    const [kept, gone] = [blocksOf(two)[0]!, blocksOf(three)[0]!];
    await one.stop();
    const before = [...one.engine.present.keys()].sort();
    one.files.texts.delete('peers.jsonl');
    const after = one.again({ cut: true });
    await after.start();
    await after.reconciler.run();
    expect([...after.engine.present.keys()].sort()).toEqual(before);
    await cluster.store.delete(keys.node('n3'));
    after.store.restore();
    await until(() => after.member.peers.areKnown);
    await until(() => routesTo(after, gone).length === 0);
    expect(routesTo(after, kept)).toHaveLength(1);
    expect(after.engine.violations).toEqual([]);
  });

  test('are never taken away when what was known of them is lost while the store is there', async () => {
    const cluster = await createCluster('vxlan');
    const [one, two] = [await startNode(cluster, 'n1'), await startNode(cluster, 'n2')];
    for (const node of [one, two]) await node.call('ADD');
    await until(() => isLedTo(one, two));
    const [block] = blocksOf(two) as [string];
    await one.stop();
    one.files.texts.set('peers.jsonl', '');
    const after = one.again();
    let missing = 0;
    after.engine.between = () => {
      if (routesTo(after, block).length === 0) missing++;
    };
    await after.start();
    await until(() => after.member.peers.areKnown);
    await after.reconciler.run();
    expect(missing).toBe(0);
  });

  test('are planned anew when the node learns to speak IPv6', async () => {
    const cluster = await createCluster();
    const one = cluster.node('n1');
    one.world.host = { ...ordinaryHost, ipv6: false };
    await one.start();
    const two = await startNode(cluster, 'n2');
    await two.call('ADD');
    const isLedToFamily = (family: RegExp): boolean =>
      blocksOf(two).some((cidr) => family.test(cidr) && routesTo(one, cidr).length > 0);
    await until(() => blocksOf(two).length > 1 && isLedToFamily(/^10/));
    expect(isLedToFamily(/^fd/)).toBe(false);
    one.world.host = ordinaryHost;
    await one.reconciler.run();
    await until(() => isLedTo(one, two));
  });

  test('a peer that the kernel refuses is a problem of its own', async () => {
    const cluster = await createCluster();
    const one = await startNode(cluster, 'n1');
    // Its own part comes before peers, and would be refused too.
    await until(() => isLedTo(one, one));
    one.engine.between = () => {
      throw new Error('ENETUNREACH');
    };
    const two = await startNode(cluster, 'n2');
    await two.call('ADD');
    await until(() => one.member.peers.problemOf('n2')?.includes('ENETUNREACH'));
    one.engine.between = () => undefined;
    await one.reconciler.run();
    await until(() => isLedTo(one, two));
    expect(one.member.peers.problemOf('n2')).toBeUndefined();
  });
});

describe('pools', () => {
  test('that come later are used, and what they need of the node is there', async () => {
    const cluster = createTestCluster();
    const node = await startNode(cluster, 'n1');
    expect((await node.call('ADD')).json.msg).toMatch(
      /^POOL_EXHAUSTED: network \w+ has no pool that is enabled/,
    );
    expect((await node.call('STATUS')).json).toMatchObject({ code: 50 });
    await cluster.putPool(pools.v4);
    await until(async () => (await node.call('ADD')).ok);
    await until(() => JSON.stringify(node.engine.of('node')).includes('10.244.0.0/16'));
  });

  test('come and go as elements of the packet filter, without a reconcile', async () => {
    const cluster = createTestCluster();
    await cluster.putPool(pools.v4);
    const node = await startNode(cluster, 'n1');
    await until(async () => (await node.call('ADD')).ok);
    const elements = (): string[] =>
      node.engine
        .of('node')
        .flatMap((each) => (each.kind === 'nft-element' ? [`${each.set} ${each.key[0]?.value}`] : []));
    const own = ['pools4 10.244.0.0/16', 'natpools4 10.244.0.0/16'];
    await until(() => elements().join() === own.join());
    const reconciles = (): number => node.engine.calls.filter((call) => call === 'reconcile').length;
    // The first one, and another when all peers are known.
    await until(() => reconciles() === 2);
    await cluster.putPool({ name: 'other', cidr: '10.9.0.0/16', network: 'elsewhere' });
    await until(() => elements().includes('pools4 10.9.0.0/16'));
    expect(elements().sort()).toEqual([...own, 'pools4 10.9.0.0/16'].sort());
    await cluster.putPool({ ...pools.v4, natOutgoing: false });
    await until(() => elements().sort().join() === ['pools4 10.244.0.0/16', 'pools4 10.9.0.0/16'].join());
    expect(reconciles()).toBe(2);
  });

  test('one that overlaps another is a problem until it is gone', async () => {
    const cluster = await createCluster();
    const node = await startNode(cluster, 'n1');
    await cluster.putPool({ name: 'again', cidr: '10.244.0.0/24' });
    await until(() => node.member.problems().some((text) => text.includes('network default')));
    expect((await node.call('ADD')).ok).toBe(true);
    await cluster.store.delete(keys.pool('again'));
    await until(() => node.member.problems().length === 0);
  });

  test('one that is deleted while it is in use is a problem, and its pods live on', async () => {
    const cluster = await createCluster();
    const node = await startNode(cluster, 'n1');
    await node.call('ADD');
    await cluster.store.delete(keys.pool('v4'));
    await until(() => node.member.problems().some((text) => text.includes('POOL_UNKNOWN: the pool v4')));
    const { resources } = node.context.node.owned();
    expect(JSON.stringify(resources)).toContain('10.244.0.0/16');
    expect((await node.call('DEL')).ok).toBe(true);
  });
});
