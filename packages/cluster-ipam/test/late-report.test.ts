/** A report that reaches the store when the node has given the block back and its agent was started again. */
import { expect, it } from 'vitest';
import { folders } from '@podwire/cluster-state';
import { keys } from './support/cluster.js';
import { names, World } from './support/world.js';

it('a late report about a block that was given back is corrected by the next life of the agent', async () => {
  const world = new World();
  try {
    await world.begin();
    const n1 = world.machine('n1');
    n1.faults.push('conflict');
    for (let n = 0; n < 9; n++) for (const name of names) world.add(world.machine(name));
    await world.advance(200);
    n1.hanging = 1;
    await world.advance(5_005);
    for (let n = 0; n < 6; n++) world.remove(n1, 2);
    await world.advance(120_000);
    const before = await reportsOf(world, 'n1');
    await world.stopAgent(n1);
    await world.startAgent(n1, 'kept, and the store away');
    await world.advance(50);
    await world.arrive(0);
    expect((await reportsOf(world, 'n1')).length, 'reports after the late one').toBeGreaterThan(
      before.length,
    );
    await world.end();
  } finally {
    await world.close();
  }
});

async function reportsOf({ cluster }: World, node: string): Promise<string[]> {
  const { items } = await cluster.admin.list(`${keys.root}/${folders.allocationRecords}`);
  return items.map(({ key }) => key).filter((key) => key.endsWith(`/${node}`));
}
