import { expect, test } from 'vitest';
import { createLocks } from '../../src/sandboxes/locks.js';

const { signal } = new AbortController();
const soon = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function gate(): { opened: Promise<void>; open: () => void } {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open };
}

test('one pod is serial and in order, others are not held up', async () => {
  const locks = createLocks();
  const { opened, open } = gate();
  const order: string[] = [];
  const work = (name: string, wait?: Promise<void>) => async (): Promise<void> => {
    order.push(`${name} begins`);
    await wait;
    order.push(`${name} ends`);
  };
  const all = [
    locks.hold('a', signal, work('first', opened)),
    locks.hold('a', signal, work('second')),
    locks.hold('b', signal, work('other')),
  ];
  await all[2];
  expect(order).toEqual(['first begins', 'other begins', 'other ends']);
  open();
  await Promise.all(all);
  expect(order.slice(3)).toEqual(['first ends', 'second begins', 'second ends']);
  await soon();
  expect(locks.size).toBe(0);
});

test('who gives up waiting lets the next one in, and nobody overtakes', async () => {
  const locks = createLocks();
  const { opened, open } = gate();
  const abort = new AbortController();
  let thirdRan = false;
  const first = locks.hold('a', signal, () => opened);
  const second = locks.hold('a', abort.signal, () => Promise.resolve());
  const third = locks.hold('a', signal, () => Promise.resolve((thirdRan = true)));
  abort.abort(new Error('enough'));
  await expect(second).rejects.toThrow('enough');
  await soon();
  expect(thirdRan).toBe(false);
  open();
  await Promise.all([first, third]);
  await soon();
  expect(locks.size).toBe(0);
});

test('an error is told and the lock is free', async () => {
  const locks = createLocks();
  await expect(locks.hold('a', signal, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  await locks.hold('a', signal, () => Promise.resolve());
  await soon();
  expect(locks.size).toBe(0);
});
