/** Answers that say nothing, and takers that do not come. */
import { setTimeout as delay } from 'node:timers/promises';
import type { WatchBatch } from '@podwire/store';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type ConsulBed, createConsulBed } from './support/consul-bed.js';

let bed: ConsulBed;

beforeEach(async () => {
  bed = await createConsulBed();
});
afterEach(() => bed.close());

it.each(['<html>', '{}'])('a write that is answered with %s is uncertain', async (text) => {
  void bed.servers[0]?.faults.next('PUT /v1/txn', { kind: 'answer', status: 200, text });
  await expect(bed.open().put('/a', '1')).rejects.toMatchObject({
    code: 'STORE_UNAVAILABLE',
    details: { uncertain: true },
  });
});

it(
  'a watch that is not read polls no more after a while, and has missed nothing',
  { tags: ['long'] },
  async () => {
    const store = bed.open();
    const batches = store.watch('/a/', { signal: new AbortController().signal })[Symbol.asyncIterator]();
    await batches.next();
    for (let value = 1; value <= 20; value++) {
      await store.put('/a/1', String(value));
      // Longer than a look; on a slow machine several of them are seen as one, which is as good.
      await delay(70);
    }
    const values: (string | undefined)[] = [];
    while (values.at(-1) !== '20') {
      const { value: batch } = (await batches.next()) as IteratorYieldResult<WatchBatch>;
      const change = batch.type === 'changes' ? batch.changes[0] : undefined;
      values.push(change?.type === 'put' ? change.item.value : undefined);
    }
    expect(values.length).toBeLessThan(15);
    await batches.return?.();
  },
);
