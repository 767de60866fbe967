/** Nodes that are cut off: for less than the cluster waits, for longer, and while its leader dies. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { containsAddress, parseAddress, parsePrefix } from '@podwire/addresses';
import { unreachableKind, blockKind } from '@podwire/cluster-state';
import { decodeObject, encodeObject } from '@podwire/store';
import { eventually } from '@podwire/testkit';
import { startChurn } from './support/churn.js';
import { assertConverged, type Cluster, createCluster, untilReported } from './support/cluster.js';
import { type ClusterNode, type Pod, untilReaches } from './support/node.js';
import { type Change, keys, readStore, type RunningWatch, watchStore } from './support/store-view.js';

const ownedBy = async ({ etcd }: Cluster, node: string): Promise<string[]> =>
  [...(await readStore(etcd)).blocks.values()]
    .filter(({ value }) => value.node === node)
    .map(({ value }) => value.cidr);

const lies = (address: string, cidrs: readonly string[]): boolean =>
  cidrs.some((cidr) => containsAddress(parsePrefix(cidr), parseAddress(address)));

/** Milliseconds since the epoch from when on the node may be thought to have vanished. */
function vanishesAt(changes: readonly Change[], node: string, vanishAfter: number): number {
  const found = changes.find(({ key, value }) => key === keys.unreachable(node) && value !== undefined);
  assert.ok(found, 'its absence was noted');
  return decodeObject(unreachableKind, found.key, found.value!).since + vanishAfter;
}

/** Blocks of the node that were released or taken by another node, in order. */
const takenFrom = (changes: readonly Change[], node: string): Change[] =>
  changes.filter(({ key, value, before: was }) => {
    if (!key.startsWith(keys.block('')) || was === undefined) return false;
    const owner = decodeObject(blockKind, key, was).node;
    return owner === node && (value === undefined || decodeObject(blockKind, key, value).node !== node);
  });

async function leaderOf(candidates: readonly ClusterNode[]): Promise<ClusterNode> {
  let leader: ClusterNode | undefined;
  await eventually('a node leads', async () => {
    const states = await Promise.all(candidates.map((node) => node.status()));
    leader = candidates[states.findIndex(({ cluster: { controller } }) => controller.leading)];
    return leader !== undefined;
  });
  return leader!;
}

describe('the cable of a node is pulled', { timeout: 180_000 }, () => {
  const vanishAfter = 20_000;
  let cluster: Cluster;
  let watch: RunningWatch;
  before(async () => {
    cluster = await createCluster({
      name: 'cut',
      nodes: 3,
      pools: [{ name: 'v4', cidr: '10.244.0.0/25', encapsulation: 'vxlan' }],
      // The node that is cut off does not lead.
      cluster: (node) => ({ vanishAfter: `${vanishAfter}ms`, controller: node !== 'n3' }),
    });
    watch = await watchStore(cluster.etcd, cluster.hosts.middle);
  });
  after(async () => {
    await watch?.stop();
    await cluster?.close();
  });

  test('for less than the cluster waits: it goes on, and nothing is taken from it', async () => {
    const [one, , three] = cluster.nodes as [ClusterNode, ClusterNode, ClusterNode];
    const pod = await three.add();
    await untilReaches(one.host.namespace, pod);
    const blocks = await ownedBy(cluster, 'n3');
    const churn = startChurn(three, 2);
    await churn.more(2);
    await three.host.cut();
    await eventually('n3 is absent', async () => (await readStore(cluster.etcd)).unreachable.has('n3'));
    await churn.more(30);
    await three.host.restore();
    await untilReported(three);
    await churn.stop();
    await untilReaches(one.host.namespace, pod);
    assert.deepEqual(takenFrom(watch.changes(), 'n3'), []);
    const now = await ownedBy(cluster, 'n3');
    assert.ok(
      blocks.every((cidr) => now.includes(cidr)),
      now.join(' '),
    );
    await eventually(
      'its absence is over',
      async () => !(await readStore(cluster.etcd)).unreachable.has('n3'),
    );
    await assertConverged(cluster, cluster.nodes);
    for (const each of three.pods) await three.del(each);
  });

  test('for longer: it stops before its blocks are another’s, and takes others when it is back', async () => {
    const [one, , three] = cluster.nodes as [ClusterNode, ClusterNode, ClusterNode];
    const pods: Pod[] = [];
    for (let count = 0; count < 12; count++) pods.push(await three.add());
    await untilReported(three);
    const blocks = await ownedBy(cluster, 'n3');
    const from = watch.changes().length;
    await three.host.cut();

    // It goes on until its lease may have ended, and says so before another node takes a block.
    let refusal = '';
    let fencedAt = 0;
    let lastAdd = 0;
    await eventually('n3 is fenced', async () => {
      const begun = Date.now();
      const pod = await three.tryAdd();
      if (typeof pod === 'string') {
        refusal = pod;
        fencedAt = begun;
        return true;
      }
      lastAdd = Date.now();
      await three.del(pod);
      return false;
    });
    assert.match(refusal, /^NODE_FENCED: /);
    assert.match((await three.status()).problem ?? '', /has not confirmed this node/);
    await three.del(pods.pop()!);
    const taken = (): Change[] => takenFrom(watch.changes().slice(from), 'n3');
    await eventually('its blocks are free', () => taken().length >= blocks.length);
    cluster.journal.giveUp('n3');
    assert.ok(taken().every(({ at }) => at >= vanishesAt(watch.changes().slice(from), 'n3', vanishAfter)));
    assert.ok(lastAdd < taken()[0]!.at, 'it had stopped');
    assert.ok(fencedAt > 0);

    // Another node takes one of them, and uses an address of it.
    let inherited: Pod;
    do inherited = await one.add();
    while (!pods.some(({ addresses }) => addresses[0] === inherited.addresses[0]));
    assert.ok(lies(inherited.addresses[0]!, blocks));
    await untilReaches(cluster.nodes[1]!.host.namespace, inherited);

    assert.match(await three.refusal(), /^NODE_FENCED: /);
    await three.host.restore();
    await untilReported(three);
    await eventually('the pods are named whose addresses are another’s', async () => {
      const { problems } = (await three.status()).cluster;
      const stale = problems.filter((text) => text.startsWith('NODE_STATE_STALE'));
      return stale.some((text) => text.includes(inherited.addresses[0]!)) || problems.join('\n');
    });
    const fresh = await three.add();
    assert.ok(!lies(fresh.addresses[0]!, await ownedBy(cluster, 'n1')));
    assert.ok(lies(fresh.addresses[0]!, await ownedBy(cluster, 'n3')));
    await untilReaches(one.host.namespace, fresh);
    for (const pod of pods) await three.del(pod);
    await untilReaches(cluster.nodes[1]!.host.namespace, inherited);
    await assertConverged(cluster, cluster.nodes);
  });
});

test(
  'the leader dies while it releases what a vanished node had: once, and never early',
  { timeout: 120_000 },
  async (t) => {
    const vanishAfter = 6_000;
    const cluster = await createCluster({
      name: 'fails',
      nodes: 4,
      pools: [{ name: 'v4', cidr: '10.244.0.0/16' }],
      cluster: (node) => ({ vanishAfter: `${vanishAfter}ms`, controller: ['n1', 'n2'].includes(node) }),
    });
    t.after(() => cluster.close());
    const [, , , four] = cluster.nodes as [ClusterNode, ClusterNode, ClusterNode, ClusterNode];
    await four.add();
    await untilReported(four);
    const { instance } = (await four.status()).cluster;
    await four.agent.kill9();
    // So many that they take many transactions.
    const cidrs = Array.from(
      { length: 2_000 },
      (_, index) => `10.244.${128 + (index >> 5)}.${(index & 31) * 8}/29`,
    );
    for (let at = 0; at < cidrs.length; at += 125) {
      const writes = cidrs.slice(at, at + 125).map((cidr) => {
        const block = {
          cidr,
          node: 'n4',
          instance,
          state: 'confirmed' as const,
          claimedAt: Date.now(),
          loans: [],
        };
        return `put ${keys.block(cidr)} ${JSON.stringify(encodeObject(blockKind, block))}`;
      });
      await cluster.hosts.middle.run(
        ['etcdctl', '--endpoints', cluster.etcd.spec.endpoints.join(','), 'txn'],
        {
          input: `\n${writes.join('\n')}\n\n\n`,
          env: { ...process.env, ETCDCTL_API: '3' },
        },
      );
    }
    const watch = await watchStore(cluster.etcd, cluster.hosts.middle);
    t.after(() => watch.stop());
    const taken = (): Change[] => takenFrom(watch.changes(), 'n4');
    const candidates = cluster.nodes.slice(0, 2);
    const leader = await leaderOf(candidates);
    await eventually('it has begun', () => taken().length > 0, { interval: 1 });
    await leader.agent.kill9();
    const atDeath = taken().length;
    // The node's own object is the last to go; the watch tells in the order of the store.
    await eventually('all of it is released', () =>
      watch.changes().some(({ key, value }) => key === keys.node('n4') && value === undefined),
    );
    console.log(`${atDeath} of ${cidrs.length} blocks were released when the leader died`);
    const all = taken().map(({ key }) => key);
    assert.equal(new Set(all).size, all.length, 'once');
    assert.ok(all.length >= cidrs.length);
    assert.deepEqual(await ownedBy(cluster, 'n4'), []);
    const due = vanishesAt(watch.changes(), 'n4', vanishAfter);
    assert.ok(
      taken().every(({ at }) => at >= due),
      'not early',
    );
    // The pods of the node whose agent died are the node's: it is back in time.
    await leader.agent.start();
    cluster.journal.giveUp('n4');
    await assertConverged(cluster, cluster.nodes.slice(0, 3));
  },
);
