import { expect, test } from 'vitest';
import { createOnDemand } from '@podwire/platform';

test('is started once, by whoever wants it first', async () => {
  let starts = 0;
  const thing = createOnDemand(() => Promise.resolve(++starts));
  expect(await thing.started()).toBeUndefined();
  expect(await Promise.all([thing.get(), thing.get()])).toEqual([1, 1]);
  expect(await thing.get()).toBe(1);
  expect(await thing.started()).toBe(1);
});

test('what could not be started is tried again, and is nothing meanwhile', async () => {
  let starts = 0;
  const thing = createOnDemand(() =>
    ++starts === 1 ? Promise.reject(new Error('taken')) : Promise.resolve(starts),
  );
  const first = thing.get();
  const started = thing.started();
  await expect(first).rejects.toThrow('taken');
  expect(await started).toBeUndefined();
  expect(await thing.started()).toBeUndefined();
  expect(await thing.get()).toBe(2);
});
