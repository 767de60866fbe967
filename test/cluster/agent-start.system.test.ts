/** How agents start: without the store, and after they were killed in the middle of something. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { eventually } from '@podwire/testkit';
import {
  assertConverged,
  type Cluster,
  createCluster,
  startTraffic,
  untilReported,
} from './support/cluster.js';
import type { ClusterNode } from './support/node.js';
import { readStore } from './support/store-view.js';

describe('without the store', { timeout: 120_000 }, () => {
  let cluster: Cluster;
  before(async () => {
    cluster = await createCluster({
      ...{ name: 'start', nodes: 2, hosts: 3 },
      pools: [{ name: 'v4', cidr: '10.244.0.0/20', blockSize: 27, encapsulation: 'vxlan' }],
    });
  });
  after(async () => cluster?.close());

  test('an agent that was killed goes on with its blocks; one that knows nothing says so until the store is back', async () => {
    const [one] = cluster.nodes as [ClusterNode];
    const traffic = await startTraffic(await Promise.all(cluster.nodes.map((node) => node.add())));
    await untilReported(one);
    await cluster.etcd.members[0]!.kill9();
    await one.agent.kill9();
    // One that does not know its peers any more takes nothing away that may lead to them.
    fs.rmSync(path.join(one.agent.stateDirectory, 'peers.jsonl'));
    await one.agent.start();
    const pods = [await one.add(), await one.add()];
    await one.del(pods[0]!);
    assert.equal((await one.status()).cluster.store.connected, false);

    await assert.rejects(cluster.startNode('n3', 2, 9_000), /is not ready/);
    const three = cluster.callsOf('n3', 2);
    const refused = await three.refusal();
    assert.match(
      refused,
      /^AGENT_NOT_READY: the store is away \(.+\), and this node has no saved state to allocate from/,
    );
    assert.match((await three.status()).problem ?? '', /the store is away/);

    await cluster.etcd.members[0]!.start();
    await eventually('n3 serves', async () => (await three.status()).ready);
    await three.add();
    await assertConverged(cluster, [...cluster.nodes, three]);
    await traffic.end();
  });
});

describe('killed at a point', { timeout: 180_000 }, () => {
  let cluster: Cluster;
  let one: ClusterNode;
  before(async () => {
    cluster = await createCluster({
      ...{ name: 'killed', nodes: 2 },
      pools: [{ name: 'v4', cidr: '10.244.0.0/18' }],
    });
    one = cluster.nodes[0]!;
  });
  after(async () => cluster?.close());

  /** The store and the node agree on the node's addresses, and no other node's are missing. */
  async function assertWhole(): Promise<void> {
    await one.undoUnanswered();
    await one.add();
    await assertConverged(cluster, cluster.nodes);
    await eventually('its blocks are what the store says', async () => {
      const { blocks } = await readStore(cluster.etcd);
      const there = [...blocks.values()].filter(({ value }) => value.node === one.name);
      const here = (await one.status()).cluster.holdings;
      const [a, b] = [
        there.map(({ value }) => `${value.cidr} ${value.state}`),
        here.map(({ cidr, state }) => `${cidr} ${state}`),
      ];
      return a.sort().join() === b.sort().join() || `${a.join()} and ${b.join()}`;
    });
  }

  for (const point of ['claim:chosen', 'claim:written', 'report:written', 'add:recorded', 'add:answered']) {
    test(`${point}, while pods are made: started again, nothing is missing`, async () => {
      one.faults.clear();
      one.faults.inject({ point, skip: 0, signal: 'SIGKILL' });
      for (let count = 0; one.faults.isPending() && count < 40; count++)
        await one.tryAdd().catch(() => undefined);
      await eventually('it has died', () => !one.faults.isPending());
      await one.agent.exited();
      await one.agent.start();
      await assertWhole();
    });
  }

  for (const point of ['register:leased', 'register:present']) {
    test(`${point}, while it registers: started again, nothing is missing`, async () => {
      await one.agent.kill9();
      one.faults.clear();
      one.faults.inject({ point, skip: 0, signal: 'SIGKILL' });
      await one.agent.start().catch(() => undefined);
      await one.agent.exited();
      await one.agent.start();
      await assertWhole();
    });
  }

  test('take-over:read, after a new boot: started again, nothing of the boot before is left', async () => {
    for (const pod of one.pods) await one.del(pod);
    await one.agent.kill9();
    fs.rmSync(one.agent.stateDirectory, { recursive: true });
    one.faults.clear();
    one.faults.inject({ point: 'take-over:read', skip: 0, signal: 'SIGKILL' });
    await assert.rejects(one.agent.start(), /SIGKILL/);
    await one.agent.start();
    await assertWhole();
  });

  test('release:announced and release:written, when blocks go back: nothing is missing', async () => {
    const points = ['release:announced', 'release:written'];
    for (const node of cluster.nodes) {
      for (let count = node.pods.size; count < 12; count++) await node.add();
      await untilReported(node);
      for (const pod of node.pods) await node.del(pod);
    }
    for (const [index, node] of cluster.nodes.entries()) {
      node.faults.clear();
      node.faults.inject({ point: points[index]!, skip: 0, signal: 'SIGKILL' });
    }
    await cluster.putPool({ name: 'v4', cidr: '10.244.0.0/18', disabled: true });
    await Promise.all(cluster.nodes.map((node) => node.agent.exited()));
    await Promise.all(cluster.nodes.map((node) => node.agent.start()));
    await eventually(
      'all blocks have gone back',
      async () => (await readStore(cluster.etcd)).blocks.size === 0,
    );
    await cluster.putPool({ name: 'v4', cidr: '10.244.0.0/18' });
    for (const node of cluster.nodes)
      await eventually('it has blocks again', async () => typeof (await node.tryAdd()) !== 'string');
    await assertWhole();
  });
});
