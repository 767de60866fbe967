import { setTimeout as sleep } from 'node:timers/promises';
import v8 from 'node:v8';
import vm from 'node:vm';
import { expect, test } from 'vitest';
import { deadlineSignal, orAborted, systemClock, withDeadline } from '../src/index.js';
import { createTestClock } from '../src/testing.js';

const ended = (signal: AbortSignal): Promise<unknown> =>
  new Promise((resolve) => signal.addEventListener('abort', () => resolve(signal.reason), { once: true }));

test('it aborts after its time', async () => {
  expect(await ended(deadlineSignal(5, new AbortController().signal))).toMatchObject({
    name: 'TimeoutError',
  });
  expect(await ended(deadlineSignal(5))).toMatchObject({ name: 'TimeoutError' });
});

test('one of more than a month does not fire at once', async () => {
  const stop = new AbortController();
  const waiting = ended(deadlineSignal(365 * 86_400_000, stop.signal));
  await sleep(50);
  stop.abort(new Error('enough'));
  expect(await waiting).toMatchObject({ message: 'enough' });
});

test('the signal aborts it with its own reason, also one that has aborted before', async () => {
  const stop = new AbortController();
  const waiting = ended(deadlineSignal(60_000, stop.signal));
  stop.abort(new Error('enough'));
  expect(await waiting).toMatchObject({ message: 'enough' });
  expect(deadlineSignal(60_000, stop.signal).reason).toMatchObject({ message: 'enough' });
});

test('work that ends in time leaves no timer and no listener', async () => {
  const stop = new AbortController();
  let seen: AbortSignal | undefined;
  expect(await withDeadline(stop.signal, 5, (signal) => Promise.resolve((seen = signal)))).toBe(seen);
  stop.abort();
  expect(seen!.aborted).toBe(false);
});

test('the clock of the machine measures as a timer does, and leaves none', async () => {
  const never = (signal: AbortSignal) => orAborted(new Promise<never>(() => undefined), signal);
  const options = { clock: systemClock, reason: () => new Error('too late') };
  await expect(withDeadline(undefined, 5, never, options)).rejects.toThrow('too late');
  const before = process.getActiveResourcesInfo().filter((one) => one === 'Timeout').length;
  await withDeadline(undefined, 60_000, () => Promise.resolve(), options);
  expect(process.getActiveResourcesInfo().filter((one) => one === 'Timeout')).toHaveLength(before);
});

test('the deadline may be measured by a clock and have its own reason', async () => {
  const clock = createTestClock();
  const options = { clock, reason: () => new Error('too late') };
  const work = withDeadline(
    undefined,
    100,
    (signal) => orAborted(new Promise<never>(() => undefined), signal),
    options,
  );
  const failed = expect(work).rejects.toThrow('too late');
  await clock.advance(100);
  await failed;
  await withDeadline(undefined, 100, () => Promise.resolve(), options);
  const aborted = AbortSignal.abort(new Error('stopped'));
  const outerReason = ({ message }: Error): Error => new Error(`it was ${message}`);
  const reason = withDeadline(aborted, 100, (signal) => Promise.resolve(signal.reason as Error), {
    outerReason,
  });
  expect((await reason).message).toBe('it was stopped');
  expect(clock.sleepers()).toBe(0);
});

/** `gc` of V8, which a process otherwise has only after `--expose-gc`. */
function findCollector(): () => void {
  v8.setFlagsFromString('--expose-gc');
  return vm.runInNewContext('gc') as () => void;
}

test('it fires although nothing refers to it and garbage is collected meanwhile (nodejs/node#57736)', async () => {
  const collect = findCollector();
  const stop = new AbortController();
  let came = false;
  deadlineSignal(100, stop.signal).addEventListener('abort', () => (came = true));
  for (let turn = 0; turn < 30 && !came; turn += 1) {
    collect();
    await sleep(10);
  }
  expect(came).toBe(true);
});
