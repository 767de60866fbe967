import { expect, test } from 'vitest';
import { Backoff } from '../src/index.js';

test('the delay doubles up to the longest, and begins anew after a reset', () => {
  const backoff = new Backoff({ first: 100, longest: 350 });
  expect([backoff.fail(), backoff.fail(), backoff.fail(), backoff.fail()]).toEqual([100, 200, 350, 350]);
  expect(backoff.failures).toBe(4);
  backoff.reset();
  expect([backoff.fail(), backoff.failures]).toEqual([100, 1]);
});
