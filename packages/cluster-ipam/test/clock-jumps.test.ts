import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TestCluster, type TestNode } from './support/cluster.js';

const day = 24 * 3_600_000;
/** As the agent asks for it by default: nine tenths of a day. */
const fenceAfter = 0.9 * day;

let cluster: TestCluster;
let node: TestNode;
beforeEach(async () => {
  cluster = new TestCluster();
  await cluster.putPool({ cidr: '10.0.0.0/22', blockSize: 28 });
  node = await cluster.join('n1', { fenceAfter });
  await cluster.clock.advance(1_000);
});
afterEach(() => cluster.close());

describe('the wall clock of a node that is in touch with the store', { tags: ['long'] }, () => {
  it('jumps a day forward: the one ADD that met it is refused, the next is not', async () => {
    cluster.clock.jump(day);
    await expect(node.add('a')).rejects.toMatchObject({ code: 'NODE_FENCED' });
    // No timer is due: the refusal itself makes the node ask the store.
    await cluster.clock.settle();
    await node.add('a');
    expect(node.addressing.status()).toMatchObject({ fenced: false, problems: [] });
  });

  it('jumps a day back: no pod is affected, and the node is fenced in time when it is cut off afterwards', async () => {
    cluster.clock.jump(-day);
    await node.add('a');
    await cluster.clock.advance(120_000);
    await node.add('b');
    node.cut();
    await cluster.clock.advance(fenceAfter + 61_000);
    await expect(node.add('c')).rejects.toMatchObject({ code: 'NODE_FENCED' });
  });

  it('jumps there and back: blocks and allocation records stay, and a claim goes on', async () => {
    const [first] = node.blocks;
    for (const by of [day, -2 * day, day]) {
      cluster.clock.jump(by);
      await node.add(`before ${by}`).catch(() => undefined);
      await cluster.clock.settle();
      for (let count = 0; count < 6; count++) await cluster.during(node.add(`${by} ${count}`));
    }
    expect(node.blocks).toContain(first);
    expect(node.blocks.length).toBeGreaterThan(1);
    await cluster.clock.advance(2_000);
    expect(node.addressing.status()).toMatchObject({ unreported: 0, problems: [] });
  });
});
