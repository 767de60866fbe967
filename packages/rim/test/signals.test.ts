import { expect, test } from 'vitest';
import { orAborted } from '../src/index.js';

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

test('work that fails when nobody waits any more is no unhandled rejection', async () => {
  // Vitest fails a run that has one.
  const stop = new AbortController();
  stop.abort(new Error('enough'));
  let fail = (_: Error): void => undefined;
  const work = new Promise<never>((_, reject) => (fail = reject));
  await expect(orAborted(work, stop.signal)).rejects.toThrow('enough');
  fail(new Error('late'));
  await new Promise((resolve) => setImmediate(resolve));
});
