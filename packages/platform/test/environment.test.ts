import { expect, test } from 'vitest';
import { noFaults, silentLog, systemClock } from '../src/index.js';

test('sleep ends with the signal and its reason', async () => {
  const stop = new AbortController();
  const sleeping = systemClock.sleep(60_000, stop.signal);
  stop.abort(new Error('enough'));
  await expect(sleeping).rejects.toMatchObject({ name: 'AbortError', cause: { message: 'enough' } });
});

test('more than a month of sleep is not over at once, as a timer of Node would be', async () => {
  const stop = new AbortController();
  const sleeping = systemClock.sleep(365 * 86_400_000, stop.signal);
  const first = await Promise.race([sleeping.then(() => 'year'), systemClock.sleep(50, stop.signal)]);
  stop.abort(new Error('enough'));
  expect(first).toBeUndefined();
  await expect(sleeping).rejects.toMatchObject({ cause: { message: 'enough' } });
});

test('the clock that only goes forward does', async () => {
  const before = systemClock.elapsed();
  await systemClock.sleep(1, new AbortController().signal);
  expect(systemClock.elapsed()).toBeGreaterThan(before);
});

test('silence', () => {
  expect(silentLog.warn({}, 'x')).toBeUndefined();
  expect(noFaults.reach('x')).toBeUndefined();
});

test('a sleeper keeps its process, so that what waits for it is not cut off', async () => {
  const count = (): number => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
  const before = count();
  const stop = new AbortController();
  const sleeping = systemClock.sleep(60_000, stop.signal).catch(() => undefined);
  expect(count()).toBe(before + 1);
  stop.abort();
  await sleeping;
});
