import { createTestClock } from '@podwire/platform/testing';
import { describe, expect, test } from 'vitest';
import { momentOf, Trust } from '../src/trust/trust.js';

const day = 86_400_000;

describe('a node that was started with another patience', () => {
  test('counts on what the store knows of it until it has told the store', () => {
    const clock = createTestClock();
    const trust = new Trust(clock, 2 * day);
    trust.resume(clock.now() - 1.5 * day, day);
    expect(trust.isFenced).toBe(true);
    expect(() => trust.require()).toThrow('has not confirmed this node');
    trust.resume(clock.now() - 0.5 * day, day);
    expect(trust.isFenced).toBe(false);
    trust.confirm(momentOf(clock));
    expect(trust.limit).toBe(2 * day);
  });

  test('counts on less at once', () => {
    const clock = createTestClock();
    const trust = new Trust(clock, day);
    trust.resume(clock.now() - 1.5 * day, 2 * day);
    expect(trust.isFenced).toBe(true);
  });
});
