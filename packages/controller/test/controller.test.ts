import { unreachableKind } from '@podwire/cluster-state';
import { decodeObject } from '@podwire/store';
import { afterEach, describe, expect, test } from 'vitest';
import { renderMetrics } from '../src/index.js';
import { createTestCluster, grace, hour, type TestCluster, evictionTimeout } from './cluster.js';

let cluster: TestCluster;
afterEach(() => cluster.stopAll());

async function createWithNode(): Promise<TestCluster> {
  cluster = createTestCluster();
  await cluster.pool();
  await cluster.arrive('n1');
  await cluster.block('10.244.0.0/26', 'n1');
  return cluster;
}

const keysOf = async ({ store, keys }: TestCluster, folder: string): Promise<string[]> =>
  (await store.list(`${keys.root}/${folder}`)).items.map(({ key }) => key);

describe('a node', () => {
  test('is unreachable when its lease ends, and is released after the eviction timeout', async () => {
    const { clock, startController, leave, stateOf } = await createWithNode();
    const { controller } = startController();
    await clock.advance(1);
    await leave('n1');
    await clock.advance(1000);
    expect(await stateOf('n1')).toBe('unreachable');
    expect(await keysOf(cluster, 'absences/')).toHaveLength(1);
    await clock.advance(evictionTimeout - 2000);
    expect(await keysOf(cluster, 'shared/blocks/')).toHaveLength(1);
    await clock.advance(2000);
    expect(await keysOf(cluster, 'shared/blocks/')).toEqual([]);
    expect(await keysOf(cluster, 'shared/nodes/')).toEqual([]);
    expect(await keysOf(cluster, 'absences/')).toEqual([]);
    expect(controller.metrics()).toMatchObject({
      leading: true,
      unreachable: 1,
      released: 1,
      releasedBlocks: 1,
    });
    expect(controller.metrics().absentNodes).toBe(0);
  });

  test('has the eviction timeout of its object when that is longer', async () => {
    cluster = createTestCluster();
    const { clock, startController, arrive, leave, stateOf, block } = cluster;
    await cluster.pool();
    await arrive('patient', undefined, { vanishAfter: 2 * evictionTimeout });
    await arrive('hasty', undefined, { vanishAfter: hour });
    await block('10.244.0.0/26', 'patient');
    await block('10.244.0.64/26', 'hasty');
    startController();
    await clock.advance(1);
    await Promise.all([leave('patient'), leave('hasty')]);
    await clock.advance(evictionTimeout + hour);
    expect(await stateOf('patient')).toBe('unreachable');
    expect(await stateOf('hasty')).toBeUndefined();
    expect(await keysOf(cluster, 'shared/blocks/')).toHaveLength(1);
    await clock.advance(evictionTimeout);
    expect(await stateOf('patient')).toBeUndefined();
    expect(await keysOf(cluster, 'shared/blocks/')).toEqual([]);
  });

  test('is ready again when it comes back, and its next outage starts from zero', async () => {
    const { clock, startController, leave, arrive, stateOf } = await createWithNode();
    startController();
    await leave('n1');
    await clock.advance(evictionTimeout - hour);
    await arrive('n1');
    expect(await keysOf(cluster, 'absences/')).toEqual([]);
    expect(await stateOf('n1')).toBe('ready');
    await leave('n1');
    await clock.advance(evictionTimeout - hour);
    expect(await stateOf('n1')).toBe('unreachable');
    await clock.advance(2 * hour);
    expect(await stateOf('n1')).toBeUndefined();
  });

  test('is ready again when a record of its outage was left over', async () => {
    const { clock, startController, leave, store, keys, stateOf } = await createWithNode();
    const first = startController();
    await leave('n1');
    await clock.advance(hour);
    await first.stop();
    const presence = '{"kind":"presence","version":1,"value":{"node":"n1","instance":"n1-1","since":1}}';
    await store.put(keys.nodeLease('n1'), presence);
    startController();
    await clock.advance(1);
    expect(await keysOf(cluster, 'absences/')).toEqual([]);
    expect(await stateOf('n1')).toBe('ready');
  });

  test('starts from zero when it was back while no controller led', async () => {
    const { clock, startController, leave, arrive, stateOf } = await createWithNode();
    const first = startController();
    await leave('n1');
    await clock.advance(evictionTimeout - hour);
    await first.kill();
    await arrive('n1');
    await leave('n1');
    startController();
    await clock.advance(evictionTimeout - hour);
    expect(await stateOf('n1')).toBe('unreachable');
    await clock.advance(2 * hour);
    expect(await stateOf('n1')).toBeUndefined();
  });
});

describe('clocks', () => {
  test('is not released when the wall clock jumps forward', async () => {
    const { clock, startController, leave, stateOf } = await createWithNode();
    const leader = startController();
    await leave('n1');
    await clock.advance(hour);
    leader.clock.jump(1000 * hour);
    await clock.advance(20 * hour);
    expect(await stateOf('n1')).toBe('unreachable');
    await clock.advance(4 * hour);
    expect(await stateOf('n1')).toBeUndefined();
  });

  test('is released late, but is, when the wall clock jumps back', async () => {
    const { clock, startController, leave, stateOf } = await createWithNode();
    const leader = startController();
    await leave('n1');
    await clock.advance(12 * hour);
    leader.clock.jump(-100 * hour);
    await clock.advance(20 * hour);
    expect(await stateOf('n1')).toBe('unreachable');
    await clock.advance(6 * hour);
    expect(await stateOf('n1')).toBeUndefined();
  });

  test('has its time counted on by the next leader', async () => {
    const { clock, startController, leave, stateOf } = await createWithNode();
    const first = startController('a');
    await leave('n1');
    await clock.advance(12.5 * hour);
    await first.kill();
    // An hour ahead of the first one: it must not count for anything.
    startController('b', hour);
    await clock.advance(8 * hour);
    expect(await stateOf('n1')).toBe('unreachable');
    await clock.advance(5 * hour);
    expect(await stateOf('n1')).toBeUndefined();
  });

  test('has its counted time saved', async () => {
    const { clock, startController, leave, store, keys } = await createWithNode();
    startController();
    await leave('n1');
    await clock.advance(5.5 * hour);
    const item = await store.get(keys.unreachable('n1'));
    expect(decodeObject(unreachableKind, item!.key, item!.value).observed).toBe(5 * hour);
  });
});

describe('leadership', () => {
  test('one leads; when it dies another one does, and only that one writes', async () => {
    const { clock, startController, leave } = await createWithNode();
    const first = startController('a');
    await clock.advance(1);
    const second = startController('b');
    await clock.advance(1);
    expect([first, second].map(({ controller }) => controller.metrics().leading)).toEqual([true, false]);
    await first.kill();
    await clock.advance(2 * hour);
    expect(second.controller.metrics()).toMatchObject({ leading: true, terms: 1 });
    await leave('n1');
    await clock.advance(1);
    expect(second.controller.metrics().unreachable).toBe(1);
  });

  test('a leader that lost its lock writes nothing more', async () => {
    const { clock, startController, store, keys, leave } = await createWithNode();
    const { controller } = startController('a');
    await clock.advance(1);
    expect(controller.metrics().leading).toBe(true);
    // Before it can notice.
    const taken = store.put(keys.leader, 'another leader');
    const left = leave('n1');
    await Promise.all([taken, left]);
    await clock.advance(hour);
    expect(await keysOf(cluster, 'absences/')).toEqual([]);
  });

  test('a store that fails sometimes is asked again', async () => {
    const { clock, startController, leave } = await createWithNode();
    const { controller, store } = startController('a');
    await clock.advance(1);
    store.cut();
    await leave('n1');
    await clock.advance(5_000);
    expect(await keysOf(cluster, 'absences/')).toEqual([]);
    store.restore();
    await clock.advance(60_000);
    expect(await keysOf(cluster, 'absences/')).toHaveLength(1);
    expect(controller.metrics().leading).toBe(true);
  });
});

describe('garbage', () => {
  test('is collected when it persists for the whole grace', async () => {
    const { clock, startController, block } = await createWithNode();
    const { controller } = startController();
    await block('10.244.5.0/26', undefined);
    await clock.advance(1);
    expect(controller.metrics().candidates).toBe(1);
    await clock.advance(grace - 10);
    expect(await keysOf(cluster, 'shared/blocks/')).toHaveLength(2);
    await clock.advance(20);
    expect(await keysOf(cluster, 'shared/blocks/')).toHaveLength(1);
    expect(controller.metrics()).toMatchObject({ collected: 1, collections: 3 });
  });

  test('waits for a new grace under a new leader', async () => {
    const { clock, startController, block } = await createWithNode();
    const first = startController('a');
    await block('10.244.5.0/26', undefined);
    await clock.advance(grace * 0.9);
    await first.stop();
    startController('b');
    await clock.advance(grace * 0.9);
    expect(await keysOf(cluster, 'shared/blocks/')).toHaveLength(2);
    await clock.advance(grace * 0.2);
    expect(await keysOf(cluster, 'shared/blocks/')).toHaveLength(1);
  });
});

test('renders metrics as Prometheus text', async () => {
  const { startController, clock } = await createWithNode();
  const { controller } = startController();
  await clock.settle();
  const text = renderMetrics(controller.metrics());
  expect(text).toContain('# TYPE podwire_controller_leading gauge\npodwire_controller_leading 1\n');
  expect(
    text.split('\n').every((line) => line === '' || /^(#|podwire_controller_\w+ [\d.]+$)/.test(line)),
  ).toBe(true);
});
