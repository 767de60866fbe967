/** Bodies of requests, and the memory that they share. */
import { expect, test } from 'vitest';
import { createByteBudget } from '@podwire/local-api';
import { type Body, withBody } from '../../src/tenant/rest/body.js';

async function* chunksOf(...sizes: number[]): AsyncGenerator<Buffer> {
  for (const size of sizes) yield await Promise.resolve(Buffer.alloc(size));
}

const sizeOf = (body: Body): Promise<number | string> =>
  Promise.resolve(typeof body === 'string' ? body : body.length);

test('a body is whole, and counts until it is answered', async () => {
  const budget = createByteBudget(10);
  const size = await withBody(chunksOf(3, 4), { longest: 8, budget }, (body) => {
    expect([budget.take(4), budget.take(3)]).toEqual([false, true]);
    budget.giveBack(3);
    return sizeOf(body);
  });
  expect(size).toBe(7);
  expect(budget.take(10)).toBe(true);
});

test('a body that is too long is read to its end, and counts no more', async () => {
  const budget = createByteBudget(100);
  const answer = await withBody(chunksOf(5, 5, 5), { longest: 8, budget }, (body) => {
    expect(budget.take(100)).toBe(true);
    return sizeOf(body);
  });
  expect(answer).toBe('too-long');
});

test('bodies that are too much together are refused, and one is taken again once there is room', async () => {
  const budget = createByteBudget(10);
  const limits = { longest: 8, budget };
  await withBody(chunksOf(8), limits, async (first) => {
    expect(await sizeOf(first)).toBe(8);
    expect(await withBody(chunksOf(2, 2, 2), limits, sizeOf)).toBe('too-much-at-once');
    expect(await withBody(chunksOf(2), limits, sizeOf)).toBe(2);
  });
  expect(await withBody(chunksOf(8), limits, sizeOf)).toBe(8);
});

test('a caller that goes, and an answer that fails, give the memory back', async () => {
  const budget = createByteBudget(10);
  async function* broken(): AsyncGenerator<Buffer> {
    yield* chunksOf(6);
    throw new Error('gone');
  }
  await expect(withBody(broken(), { longest: 8, budget }, sizeOf)).rejects.toThrow('gone');
  const fail = (): Promise<never> => Promise.reject(new Error('failed'));
  await expect(withBody(chunksOf(6), { longest: 8, budget }, fail)).rejects.toThrow('failed');
  expect(budget.take(10)).toBe(true);
});
