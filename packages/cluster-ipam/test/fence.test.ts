import { createTestClock } from '@podwire/platform/testing';
import { describe, expect, test } from 'vitest';
import { momentOf, Fence } from '../src/fence.js';

const day = 86_400_000;

describe('a node that was started with another eviction timeout', () => {
  test('is fenced by the timeout that the store knows, until it has told the store', () => {
    const clock = createTestClock();
    const fence = new Fence(clock, 2 * day);
    fence.resume(clock.now() - 1.5 * day, day);
    expect(fence.isFenced).toBe(true);
    expect(() => fence.requireUnfenced()).toThrow('has not confirmed this node');
    fence.resume(clock.now() - 0.5 * day, day);
    expect(fence.isFenced).toBe(false);
    fence.confirm(momentOf(clock));
    expect(fence.limit).toBe(2 * day);
  });

  test('is fenced by a shorter timeout at once', () => {
    const clock = createTestClock();
    const fence = new Fence(clock, day);
    fence.resume(clock.now() - 1.5 * day, 2 * day);
    expect(fence.isFenced).toBe(true);
  });
});
