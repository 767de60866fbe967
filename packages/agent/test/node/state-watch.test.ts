import { silentLog } from '@podwire/platform';
import { expect, test } from 'vitest';
import { watchState } from '../../src/node/state-watch.js';

/** State at each second's look, and the looks at which a change was called out. An error is thrown. */
async function watch(
  looks: readonly (string | undefined | Error)[],
  { named = 0, ...given }: { named?: number; initial?: string } = {},
): Promise<number[]> {
  const ended = new AbortController();
  const called: number[] = [];
  let second = -1;
  await watchState({
    ...given,
    subject: () => (second < named ? undefined : 'eth0'),
    read: () => {
      const seen = looks[second];
      if (seen instanceof Error) throw seen;
      return seen;
    },
    changed: () => called.push(second),
    clock: {
      now: () => 0,
      elapsed: () => 0,
      sleep: async () => {
        second += 1;
        if (second === looks.length) ended.abort();
        await Promise.resolve();
        ended.signal.throwIfAborted();
      },
    },
    log: silentLog,
    signal: ended.signal,
  });
  return called;
}

test.each<[string, (string | undefined | Error)[], number[]]>([
  ['nothing happens', ['a', 'a', 'a'], []],
  ['the link was down for a moment', ['a', 'b', 'b', 'b'], [2]],
  ['it is down for a while and comes back as it was', ['a', undefined, undefined, 'a', 'a', 'a'], [4]],
  ['it comes back in steps', ['a', undefined, 'b', 'c', 'd', 'd', 'd'], [5]],
  ['it was down at the first look', [undefined, 'a', 'a', 'a'], [2]],
  ['it flaps, and is as it was at last', ['a', 'b', 'a', 'a', 'a'], []],
  ['it is gone for good', ['a', undefined, undefined], []],
  ['the kernel does not answer once', ['a', new Error('busy'), 'a', 'a'], [3]],
])('%s', async (_what, looks, called) => {
  expect(await watch(looks)).toEqual(called);
});

test('the first look at a link that is known later is no change', async () => {
  expect(await watch(['a', 'b', 'b', 'b'], { named: 2 })).toEqual([]);
});

test('what has changed before the first look is called out where it is known how it was', async () => {
  expect(await watch(['b', 'b', 'b'], { initial: 'a' })).toEqual([1]);
  expect(await watch(['a', 'a', 'a'], { initial: 'a' })).toEqual([]);
});
