import { EventEmitter } from 'node:events';
import { expect, test } from 'vitest';
import { endWithLoop } from '../src/stalled.js';

test('work that ends is waited for, and no listener stays', async () => {
  const loop = new EventEmitter();
  expect(await endWithLoop(loop, Promise.resolve(7))).toBe(7);
  await expect(endWithLoop(loop, Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(loop.listenerCount('beforeExit')).toBe(0);
});

test('work that cannot end any more is a coded error', async () => {
  const loop = new EventEmitter();
  const work = endWithLoop(loop, new Promise(() => undefined));
  loop.emit('beforeExit', 0);
  await expect(work).rejects.toMatchObject({ code: 'INTERNAL' });
});
