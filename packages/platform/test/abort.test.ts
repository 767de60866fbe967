import { expect, test } from 'vitest';
import { onAbort, orAborted, pause, repeat, waitUntil } from '../src/index.js';
import { createTestClock } from '../src/testing.js';

const never = new Promise<never>(() => undefined);

test("the work's outcome, when it comes first", async () => {
  const stop = new AbortController();
  expect(await orAborted(Promise.resolve('done'), stop.signal)).toBe('done');
  expect(await orAborted(Promise.resolve('done'), undefined)).toBe('done');
  await expect(orAborted(Promise.reject(new Error('broken')), stop.signal)).rejects.toThrow('broken');
});

test("the signal's reason, when that comes first or has come already", async () => {
  const stop = new AbortController();
  const waiting = orAborted(never, stop.signal);
  stop.abort(new Error('enough'));
  await expect(waiting).rejects.toThrow('enough');
  await expect(orAborted(never, stop.signal)).rejects.toThrow('enough');
  await expect(orAborted(Promise.resolve('done'), stop.signal)).rejects.toThrow('enough');
});

test('work that fails when no caller waits any more is no unhandled rejection', async () => {
  // Vitest fails a run that has one.
  const stop = new AbortController();
  stop.abort(new Error('enough'));
  let fail = (_: Error): void => undefined;
  const work = new Promise<never>((_, reject) => (fail = reject));
  await expect(orAborted(work, stop.signal)).rejects.toThrow('enough');
  fail(new Error('late'));
  await new Promise((resolve) => setImmediate(resolve));
});

test('waiting for a state ends when a listener is told of it, or with the signal; no listener is left after that', async () => {
  const listeners = new Set<() => void>();
  const subscribe = (listener: () => void): (() => void) => {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  };
  const tell = (): void => [...listeners].forEach((listener) => listener());
  const stop = new AbortController();
  let count = 0;
  const [two, nine] = [2, 9].map((wanted) => waitUntil(() => count >= wanted, subscribe, stop.signal));
  for (count = 1; count <= 2; count++) tell();
  await two;
  stop.abort(new Error('enough'));
  await expect(nine).rejects.toThrow('enough');
  expect(listeners.size).toBe(0);
  await waitUntil(() => true, subscribe, stop.signal);
  await expect(waitUntil(() => false, subscribe, stop.signal)).rejects.toThrow('enough');
  expect(listeners.size).toBe(0);
});

test('a listener is called at abort, at once if the signal has aborted, and not after it has unsubscribed', () => {
  const stop = new AbortController();
  const reasons: unknown[] = [];
  onAbort(stop.signal, (reason) => reasons.push(reason));
  onAbort(stop.signal, () => reasons.push('unsubscribed'))();
  onAbort(undefined, () => reasons.push('none'))();
  stop.abort('one');
  onAbort(stop.signal, (reason) => reasons.push(reason));
  expect(reasons).toEqual(['one', 'one']);
});

test('a pause says whether it came to its end; repeated work ends with the signal', async () => {
  const clock = createTestClock();
  const stop = new AbortController();
  let count = 0;
  const loop = repeat(
    clock,
    () => 10,
    stop.signal,
    () => void count++,
  );
  await clock.advance(25);
  stop.abort();
  await loop;
  expect([count, await pause(clock, 10, stop.signal), clock.sleepers()]).toEqual([3, false, 0]);
});
