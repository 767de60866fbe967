import { expect, test } from 'vitest';
import { type Requeue, Workqueue, type WorkqueueOptions } from '../src/index.js';
import { createTestClock, type TestClock } from '../src/testing.js';

interface Setup {
  readonly clock: TestClock;
  readonly queue: Workqueue<string>;
  /** `key@time` of every attempt. */
  readonly attempts: string[];
  readonly errors: string[];
}

function setUp(
  reconcile: (key: string, signal: AbortSignal) => Promise<Requeue | void> = () => Promise.resolve(),
  options: Partial<WorkqueueOptions<string>> = {},
): Setup {
  const clock = createTestClock();
  const attempts: string[] = [];
  const errors: string[] = [];
  const queue = new Workqueue<string>({
    clock,
    backoff: { first: 100, longest: 400 },
    onError: (error, key) => errors.push(`${key}: ${(error as Error).message}`),
    ...options,
    reconcile: (key, signal) => {
      attempts.push(`${key}@${clock.elapsed()}`);
      return reconcile(key, signal);
    },
  });
  return { clock, queue, attempts, errors };
}

test('a key that is added several times is worked on once; then nothing is left', async () => {
  const { clock, queue, attempts } = setUp();
  for (const key of ['a', 'b', 'a']) queue.add(key);
  expect(attempts).toEqual([]);
  await clock.settle();
  expect(attempts).toEqual(['a@0', 'b@0']);
  expect([queue.size, clock.sleepers()]).toEqual([0, 0]);
});

test('a key that is added while it is worked on is worked on again, not beside itself', async () => {
  const ends: (() => void)[] = [];
  const { clock, queue, attempts } = setUp(() => new Promise((resolve) => ends.push(resolve)), {
    concurrency: 4,
  });
  queue.add('a');
  await clock.settle();
  queue.add('a');
  queue.add('a');
  await clock.settle();
  expect(attempts).toHaveLength(1);
  ends[0]!();
  await clock.settle();
  expect(attempts).toHaveLength(2);
  ends[1]!();
  await clock.settle();
  expect([attempts.length, queue.size]).toEqual([2, 0]);
});

test('so many keys are worked on at once, in order of arrival', async () => {
  const ends: (() => void)[] = [];
  const { clock, queue, attempts } = setUp(() => new Promise((resolve) => ends.push(resolve)), {
    concurrency: 2,
  });
  for (const key of ['a', 'b', 'c']) queue.add(key);
  await clock.settle();
  expect(attempts).toEqual(['a@0', 'b@0']);
  ends[1]!();
  await clock.settle();
  expect(attempts).toEqual(['a@0', 'b@0', 'c@0']);
});

test('a failure is tried again with growing delays, until it succeeds', async () => {
  let failures = 4;
  const { clock, queue, attempts, errors } = setUp(() =>
    failures-- > 0 ? Promise.reject(new Error('no')) : Promise.resolve(),
  );
  queue.add('a');
  await clock.advance(2_000);
  expect(attempts).toEqual(['a@0', 'a@100', 'a@300', 'a@700', 'a@1100']);
  expect(errors).toEqual(Array.from({ length: 4 }, () => 'a: no'));
  expect(queue.size).toBe(0);
  failures = 1;
  queue.add('a');
  await clock.advance(1_000);
  expect(attempts.slice(5)).toEqual(['a@2000', 'a@2100']);
});

test('an add does not wait for the back-off, unless the queue holds it', async () => {
  for (const holdBackoff of [false, true]) {
    const { clock, queue, attempts } = setUp(() => Promise.reject(new Error('no')), { holdBackoff });
    queue.add('a');
    await clock.advance(50);
    queue.add('a');
    await clock.advance(49);
    expect(attempts).toEqual(holdBackoff ? ['a@0'] : ['a@0', 'a@50']);
    await clock.advance(1);
    expect(attempts).toEqual(holdBackoff ? ['a@0', 'a@100'] : ['a@0', 'a@50']);
    await queue.stop();
  }
});

test('with a delay, what is added meanwhile is one piece of work', async () => {
  const { clock, queue, attempts } = setUp(undefined, { delay: 10 });
  queue.add('a');
  await clock.advance(5);
  queue.add('a');
  await clock.advance(100);
  expect(attempts).toEqual(['a@10']);
});

test('a key is due again when its work says so, or earlier when it is added', async () => {
  const { clock, queue, attempts } = setUp(() => Promise.resolve({ requeueAfter: 1_000 }));
  queue.add('a');
  await clock.advance(1_500);
  queue.add('a');
  await clock.advance(1_200);
  expect(attempts).toEqual(['a@0', 'a@1000', 'a@1500', 'a@2500']);
  queue.addAfter('a', 5_000);
  expect(queue.size).toBe(1);
  await queue.stop();
  expect(clock.sleepers()).toBe(0);
});

test('stop aborts the work under way, waits for it, and ignores what is added later', async () => {
  let isEnded = false;
  const { clock, queue, attempts, errors } = setUp(async (_, signal) => {
    await clock.sleep(60_000, signal).catch(() => undefined);
    await clock.settle();
    isEnded = true;
    throw new Error('late');
  });
  queue.add('a');
  queue.addAfter('b', 100);
  await clock.settle();
  await queue.stop();
  expect(isEnded).toBe(true);
  queue.add('c');
  await clock.advance(1_000);
  expect([attempts, errors, queue.size, clock.sleepers()]).toEqual([['a@0'], [], 0, 0]);
});
