import { describe, expect, test } from 'vitest';
import { createCollector } from '../../src/operations/index.js';
import { createHealthy, disturb, hour } from './cluster.js';

describe('garbage collection', () => {
  const grace = 900_000;

  test('repairs what two looks a grace apart have found', async () => {
    const { access, signal, block, clock, keysBelow } = await createHealthy();
    await block('10.244.3.0/26', 'gone');
    clock.advance(hour);
    const collector = createCollector({ grace });
    for (let look = 0; look < 2; look++) {
      expect(await collector.collect(access, signal)).toMatchObject({ candidates: 1, repaired: [] });
      clock.advance(grace / 2);
    }
    expect((await collector.collect(access, signal)).repaired).toHaveLength(1);
    expect(await keysBelow('shared/blocks/10.244.3')).toEqual([]);
  });

  test('begins anew with what was not there in between', async () => {
    const cluster = await createHealthy();
    const { access, signal, block, store, keys, clock } = cluster;
    const collector = createCollector({ grace });
    const claim = async (): Promise<void> => {
      await block('10.244.3.0/26', 'gone', { claimedAt: 1 });
    };
    await claim();
    await collector.collect(access, signal);
    await store.delete(keys.block('10.244.3.0/26'));
    clock.advance(grace / 2);
    await collector.collect(access, signal);
    await claim();
    clock.advance(grace / 2);
    expect((await collector.collect(access, signal)).repaired).toEqual([]);
  });

  test('counts an address in other hands as another', async () => {
    const { access, signal, record, clock } = await createHealthy();
    const collector = createCollector({ grace });
    await record('10.244.0.0/26', 'gone', ['10.244.0.20=default/a']);
    clock.advance(grace);
    await collector.collect(access, signal);
    await record('10.244.0.0/26', 'gone', ['10.244.0.20=default/b']);
    clock.advance(grace);
    expect((await collector.collect(access, signal)).repaired).toEqual([]);
  });

  test('spares who comes back between the look and the write', async () => {
    const { access, store, signal, block, node, clock } = await createHealthy();
    await block('10.244.3.0/26', 'gone');
    clock.advance(hour);
    const collector = createCollector({ grace });
    await collector.collect(access, signal);
    clock.advance(grace);
    const returning = disturb(store, () => node('gone'));
    expect(await collector.collect({ ...access, store: returning }, signal)).toMatchObject({
      spared: 1,
      repaired: [],
    });
  });

  test('writes nothing for a leader that is none any more', async () => {
    const { access, store, keys, signal, block, clock } = await createHealthy();
    const fence = await store.put(keys.leader, 'me');
    const guarded = { ...access, guard: [{ key: keys.leader, expect: fence }] };
    await block('10.244.3.0/26', undefined);
    const collector = createCollector({ grace });
    await collector.collect(guarded, signal);
    clock.advance(grace);
    await store.put(keys.leader, 'another client');
    await expect(collector.collect(guarded, signal)).rejects.toMatchObject({ code: 'STORE_CONFLICT' });
  });
});
