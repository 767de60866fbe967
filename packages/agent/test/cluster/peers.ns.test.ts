/** The same as peers.test.ts, on a real kernel: no random ones, but all that has gone wrong or easily could. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openKernel } from '@podwire/backend-linux';
import { createPrivateHost } from '@podwire/testkit';
import { type Happening, PeerWorld } from '../fakes/peer-world.js';

const settled: Happening = { kind: 'settle', calls: Infinity };
const own = (node: number, block: number): Happening[] => [
  { kind: 'move-block', block, to: node },
  { kind: 'retunnel', node, block },
];

const stories: Readonly<Record<string, readonly Happening[]>> = {
  'blocks and their ends of tunnels come, go to others, and come to this node and back': [
    ...own(0, 0),
    ...own(1, 1),
    ...own(2, 2),
    settled,
    ...own(2, 1),
    settled,
    ...own(0, 1),
    { kind: 'move-block', block: 0, to: 3 },
    settled,
    ...own(3, 0),
    ...own(1, 1),
    settled,
    { kind: 'split-block', block: 1 },
    { kind: 'lend', block: 0, address: 10, to: 2 },
    { kind: 'lend', block: 0, address: 11, to: 1 },
    settled,
    { kind: 'lend', block: 0, address: 10, to: -1 },
    { kind: 'restart' },
  ],
  'addresses of nodes are given to others': [
    ...own(1, 1),
    ...own(2, 2),
    { kind: 'readdress', node: 2, place: 1 },
    settled,
    { kind: 'readdress', node: 1, place: 3 },
    settled,
    { kind: 'come-or-go', node: 1 },
    { kind: 'settle', calls: 1 },
    { kind: 'come-or-go', node: 1 },
  ],
  'pools change their ways': [
    ...own(0, 0),
    ...own(1, 1),
    { kind: 'readdress', node: 1, place: 3 },
    ...own(2, 2),
    { kind: 'encapsulate', how: 'vxlan-cross-subnet' },
    settled,
    { kind: 'encapsulate', how: 'direct' },
    settled,
    { kind: 'reconcile' },
    { kind: 'encapsulate', how: 'vxlan' },
    { kind: 'restart' },
  ],
};

for (const [name, happenings] of Object.entries(stories)) {
  test(name, async () => {
    const [host, fresh] = await Promise.all([
      createPrivateHost({ name: 'peers' }),
      createPrivateHost({ name: 'afresh' }),
    ]);
    const world = new PeerWorld(openKernel(host.namespace));
    const other = openKernel(fresh.namespace);
    try {
      await world.start();
      for (const each of happenings) await world.happen(each);
      await world.settle();
      assert.deepEqual(world.picture(), await world.makeAfresh(other));
      assert.deepEqual(await world.drift(), []);
    } finally {
      other.close();
      await world.close();
      await Promise.all([host.close(), fresh.close()]);
    }
  });
}
