import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createHarness } from './fakes/harness.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('a change before the start makes no second series of rounds, which nothing would end', async () => {
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

test('a round by request that has failed is followed by another one soon', async () => {
  const { context, engine, reconciler } = createHarness({ yaml: 'nodeName: node1\nreconcileInterval: 1h' });
  reconciler.start();
  await reconciler.ready;
  // Its first round has ended.
  await vi.waitFor(() => expect(vi.getTimerCount()).toBe(1));
  engine.repairWith = () => Promise.reject(new Error('ENOBUFS'));
  await expect(reconciler.run()).rejects.toThrow('ENOBUFS');
  engine.repairWith = () => undefined;
  await vi.waitFor(() => expect(context.readiness).toEqual({ ready: true, problem: undefined }), 10_000);
  await reconciler.stop();
  expect(vi.getTimerCount()).toBe(0);
});

test('a round that was not possible is tried again soon, also on a node that was in order before', async () => {
  const { context, engine, reconciler } = createHarness({ yaml: 'nodeName: node1\nreconcileInterval: 1h' });
  reconciler.start();
  await reconciler.ready;
  engine.repairWith = () => Promise.reject(new Error('ENOBUFS'));
  await expect(reconciler.run()).rejects.toThrow('ENOBUFS');
  reconciler.nudge();
  await vi.advanceTimersByTimeAsync(10);
  expect(context.readiness).toMatchObject({
    ready: true,
    problem: expect.stringContaining('ENOBUFS') as string,
  });
  engine.repairWith = () => undefined;
  await vi.advanceTimersByTimeAsync(1_000);
  expect(context.readiness).toEqual({ ready: true, problem: undefined });
  await reconciler.stop();
});
