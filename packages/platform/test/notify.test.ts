import { expect, test } from 'vitest';
import { Notify } from '../src/index.js';
import { createTestClock } from '../src/testing.js';

const { signal } = new AbortController();

test('a notification while no caller waits is remembered, several of them as one', async () => {
  const clock = createTestClock();
  const wake = new Notify();
  wake.notify();
  wake.notify();
  await wake.notified(signal);
  let isAwake = false;
  const waiting = wake.notified(signal).then(() => (isAwake = true));
  await clock.settle();
  expect(isAwake).toBe(false);
  wake.notify();
  await waiting;
});

test('waiting ends with the signal and its reason', async () => {
  const stop = new AbortController();
  const wake = new Notify();
  const waiting = wake.notified(stop.signal);
  stop.abort(new Error('stopped'));
  await expect(waiting).rejects.toThrow('stopped');
  await expect(wake.notified(stop.signal)).rejects.toThrow('stopped');
});

test('waiting for a time says which came first, and leaves no sleep behind', async () => {
  const clock = createTestClock();
  const wake = new Notify();
  const late = wake.notifiedWithin(100, clock, signal);
  await clock.advance(100);
  expect(await late).toBe(false);
  const early = wake.notifiedWithin(100, clock, signal);
  wake.notify();
  expect(await early).toBe(true);
  wake.notify();
  expect(await wake.notifiedWithin(100, clock, signal)).toBe(true);
  const stop = new AbortController();
  const stopped = wake.notifiedWithin(100, clock, stop.signal);
  stop.abort();
  expect(await stopped).toBe(false);
  expect(clock.sleepers()).toBe(0);
});
