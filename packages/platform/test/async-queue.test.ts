import { expect, test } from 'vitest';
import { AsyncQueue } from '../src/index.js';

test('items come in order, also to a consumer that waits', async () => {
  const queue = new AsyncQueue<number>();
  queue.push(1);
  queue.push(2);
  const [one, two, three] = [queue.next(), queue.next(), queue.next()];
  queue.push(3);
  expect((await Promise.all([one, two, three])).map(({ value }) => value as number)).toEqual([1, 2, 3]);
});

test('the end drops what is queued, and is told once', async () => {
  let ends = 0;
  const queue = new AsyncQueue<number>(() => ends++);
  queue.push(1);
  queue.end();
  queue.push(2);
  await queue.return();
  const items: number[] = [];
  for await (const item of queue) items.push(item);
  expect([items, ends, queue.ended]).toEqual([[], 1, true]);
});

test('a failure is thrown once', async () => {
  const queue = new AsyncQueue<number>();
  queue.fail(new Error('broken'));
  await expect(queue.next()).rejects.toThrow('broken');
  expect(await queue.next()).toEqual({ done: true, value: undefined });
  const other = new AsyncQueue<number>();
  const waiting = other.next();
  other.fail(new Error('broken'));
  await expect(waiting).rejects.toThrow('broken');
});

test('a producer waits until the queue is shorter', async () => {
  const queue = new AsyncQueue<number>();
  queue.push(1);
  queue.push(2);
  const waiting = queue.untilShorter(2);
  await queue.next();
  await waiting;
  queue.clear();
  expect(queue.length).toBe(0);
});
