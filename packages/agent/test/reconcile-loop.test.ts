import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createHarness } from './fakes/harness.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('a change before the start makes no second series of rounds, which nobody would end', async () => {
  const { context, reconciler } = createHarness();
  let release = (): void => undefined;
  // The node is joining its cluster.
  const held = context.locks.withAll(
    new AbortController().signal,
    () => new Promise<void>((resolve) => (release = resolve)),
  );
  reconciler.nudge();
  reconciler.start();
  release();
  await held;
  await reconciler.ready;
  await vi.advanceTimersByTimeAsync(10);
  expect(vi.getTimerCount()).toBe(1);
  await reconciler.stop();
  expect(vi.getTimerCount()).toBe(0);
});
