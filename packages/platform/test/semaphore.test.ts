import { expect, test } from 'vitest';
import { forEachLimited, Semaphore } from '../src/index.js';

test('so many run at once, the others in order of arrival; an aborted waiter leaves the queue', async () => {
  const semaphore = new Semaphore(2);
  const ends: (() => void)[] = [];
  const begun: string[] = [];
  const run = (name: string, signal?: AbortSignal): Promise<void> =>
    semaphore.run(() => {
      begun.push(name);
      return new Promise((resolve) => ends.push(resolve));
    }, signal);
  const abort = new AbortController();
  const all = [run('a'), run('b'), run('c', abort.signal), run('d')];
  expect(begun).toEqual(['a', 'b']);
  abort.abort(new Error('left'));
  await expect(all[2]).rejects.toThrow('left');
  ends[0]!();
  await all[0];
  await Promise.resolve();
  expect(begun).toEqual(['a', 'b', 'd']);
  ends.forEach((end) => end());
  await Promise.all([all[1], all[3]]);
  await expect(run('e', abort.signal)).rejects.toThrow('left');
});

test('work that fails frees its permit', async () => {
  const semaphore = new Semaphore(1);
  await expect(semaphore.run(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(await semaphore.run(() => Promise.resolve('yes'))).toBe('yes');
});

test('a list is worked through with so many items at once', async () => {
  let running = 0;
  let most = 0;
  const seen: number[] = [];
  await forEachLimited([1, 2, 3, 4, 5], 2, async (item) => {
    most = Math.max(most, ++running);
    await Promise.resolve();
    running--;
    seen.push(item);
  });
  expect([most, seen]).toEqual([2, [1, 2, 3, 4, 5]]);
});
