/** One of three members of etcd is lost, or the disk is slow: nodes claim blocks and pods notice nothing. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { EtcdMember } from '@podwire/testkit/etcd';
import { whileChurning } from './support/churn.js';
import { assertConverged, type Cluster, createCluster, startTraffic } from './support/cluster.js';
import type { ClusterNode, Pod } from './support/node.js';

describe('three nodes with three members', { timeout: 180_000 }, () => {
  let cluster: Cluster;
  before(async () => {
    cluster = await createCluster({
      name: 'members',
      nodes: 3,
      etcd: { members: 3 },
      pools: [{ name: 'v4', cidr: '10.244.0.0/18' }],
    });
  });
  after(async () => cluster?.close());

  /** By the connections that the node's machine has. */
  async function memberOf(node: ClusterNode): Promise<EtcdMember> {
    const connections = await node.host.run(['ss', '-tnH', 'state', 'established']);
    const member = cluster.etcd.members.find(({ endpoint }) => connections.includes(new URL(endpoint).host));
    assert.ok(member, connections);
    return member;
  }

  /** More pods than the node has room for, until it has claimed two blocks. */
  async function outgrow(node: ClusterNode): Promise<void> {
    const pods: Pod[] = [];
    for (let count = 0; count < 16; count++) pods.push(await node.add());
    const blocks = (await node.status()).cluster.holdings.map(({ cidr }) => cidr);
    assert.ok(blocks.length >= 2, blocks.join(' '));
    for (const pod of pods) await node.del(pod);
  }

  const losses: readonly [string, (first: ClusterNode) => Promise<EtcdMember>, 'killed' | 'frozen'][] = [
    ['the leader is killed', () => cluster.etcd.leader(), 'killed'],
    ['the leader is frozen', () => cluster.etcd.leader(), 'frozen'],
    ['the one that a node talks to is killed', memberOf, 'killed'],
    ['the one that a node talks to is frozen', memberOf, 'frozen'],
  ];
  for (const [what, choose, fault] of losses) {
    test(`${what}: no packet is lost, blocks are claimed`, async () => {
      const [first] = cluster.nodes as [ClusterNode];
      const pods = await Promise.all(cluster.nodes.map((node) => node.add()));
      const traffic = await startTraffic(pods);
      const member = await choose(first);
      await whileChurning(cluster.nodes, async (more) => {
        if (fault === 'killed') await member.kill9();
        else member.freeze();
        await more(10);
      });
      await Promise.all(cluster.nodes.map(outgrow));
      await traffic.end();
      if (fault === 'killed') await member.start();
      else member.thaw();
      await assertConverged(cluster, cluster.nodes);
      for (const node of cluster.nodes) for (const pod of node.pods) await node.del(pod);
    });
  }

  test('a slow disk: what fails says why and goes well the next time, nothing is doubled', async () => {
    let isOver = false;
    // Two of three, so that every write waits for one of them.
    const slow = [await cluster.etcd.leader()];
    slow.push(cluster.etcd.members.find((member) => !slow.includes(member))!);
    const pulses = (async () => {
      while (!isOver) {
        for (const member of slow) member.freeze();
        await sleep(400);
        for (const member of slow) member.thaw();
        await sleep(100);
      }
    })();
    let failures = 0;
    const startPod = async (node: ClusterNode): Promise<void> => {
      for (let attempt = 1; ; attempt++) {
        const pod = await node.tryAdd();
        if (typeof pod !== 'string') return;
        failures++;
        assert.match(pod, /\b[A-Z]+(_[A-Z]+)+: /);
        assert.ok(attempt < 5, pod);
      }
    };
    try {
      const each = Array.from({ length: 24 }, () => cluster.nodes).flat();
      await Promise.all(each.map(startPod));
    } finally {
      isOver = true;
      await pulses;
    }
    console.log(`72 pods, ${failures} ADDs failed first`);
    assert.ok(cluster.nodes.every(({ pods }) => pods.size === 24));
    await assertConverged(cluster, cluster.nodes);
  });
});
