import fc from 'fast-check';
import { expect, test } from 'vitest';
import { pending } from '../support/pending.js';
import { createOperationLock } from '../../src/runtime/operation-lock.js';

/** Work that ends when it is told to. */
function held() {
  const { promise, resolve } = pending();
  return { work: () => promise, done: resolve };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

test('one key: one after the other; different keys: side by side', async () => {
  const lock = createOperationLock();
  const log: string[] = [];
  const [a1, a2, b1] = [held(), held(), held()];
  const run = (name: string, key: string, { work }: { work: () => Promise<void> }) =>
    lock.shared(key, undefined, async () => {
      log.push(`+${name}`);
      await work();
      log.push(`-${name}`);
    });
  const all = [run('a1', 'a', a1), run('a2', 'a', a2), run('b1', 'b', b1)];
  await settled();
  expect(log).toEqual(['+a1', '+b1']);
  a1.done();
  await settled();
  expect(log).toEqual(['+a1', '+b1', '-a1', '+a2']);
  a2.done();
  b1.done();
  await Promise.all(all);
});

test('exclusive work waits for what came before and holds back what comes after', async () => {
  const lock = createOperationLock();
  const log: string[] = [];
  const [before, alone] = [held(), held()];
  const first = lock.shared('a', undefined, before.work);
  const collection = lock.exclusive(undefined, async () => {
    log.push('alone');
    await alone.work();
  });
  const after = lock.shared('b', undefined, () => Promise.resolve(log.push('after')));
  await settled();
  expect(log).toEqual([]);
  before.done();
  await settled();
  expect(log).toEqual(['alone']);
  alone.done();
  await Promise.all([first, collection, after]);
  expect(log).toEqual(['alone', 'after']);
});

test('a caller that gives up while waiting is not run and delays no other', async () => {
  const lock = createOperationLock();
  const running = held();
  const first = lock.shared('a', undefined, running.work);
  const quit = new AbortController();
  const collection = lock.exclusive(quit.signal, () => Promise.reject(new Error('must not run')));
  const after = lock.shared('b', undefined, () => Promise.resolve('ran'));
  quit.abort(new Error('enough'));
  await expect(collection).rejects.toMatchObject({
    code: 11,
    message: 'the operation was cancelled: enough',
  });
  await expect(after).resolves.toBe('ran');
  await expect(lock.shared('c', quit.signal, () => Promise.resolve('x'))).rejects.toMatchObject({ code: 11 });
  running.done();
  await first;
});

test('failing work lets the next one in', async () => {
  const lock = createOperationLock();
  await expect(lock.shared('a', undefined, () => Promise.reject(new Error('x')))).rejects.toThrow('x');
  await expect(lock.shared('a', undefined, () => Promise.resolve(1))).resolves.toBe(1);
  await expect(lock.exclusive(undefined, () => Promise.reject(new Error('y')))).rejects.toThrow('y');
  await expect(lock.shared('a', undefined, () => Promise.resolve(2))).resolves.toBe(2);
});

test('any order of arrivals and endings keeps the rules, and every caller is served', async () => {
  const job = fc.record({
    key: fc.constantFrom('a', 'b', 'c', undefined),
    turns: fc.nat({ max: 3 }),
    abort: fc.option(fc.nat({ max: 4 }), { nil: undefined, freq: 4 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(job, { maxLength: 12 }), async (jobs) => {
      const lock = createOperationLock();
      const inside: (string | undefined)[] = [];
      const work = (key: string | undefined, turns: number) => async () => {
        expect(key === undefined ? inside : inside.filter((k) => k === key || k === undefined)).toEqual([]);
        inside.push(key);
        for (let turn = 0; turn < turns; turn++) await settled();
        inside.splice(inside.indexOf(key), 1);
      };
      const outcomes = await Promise.allSettled(
        jobs.map(async ({ key, turns, abort }) => {
          const quit = new AbortController();
          const passed =
            key === undefined
              ? lock.exclusive(quit.signal, work(key, turns))
              : lock.shared(key, quit.signal, work(key, turns));
          if (abort !== undefined) {
            void (async () => {
              for (let turn = 0; turn < abort; turn++) await settled();
              quit.abort(new Error('quit'));
            })();
          }
          return passed;
        }),
      );
      for (const outcome of outcomes) {
        if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ code: 11 });
      }
      expect(inside).toEqual([]);
      await expect(lock.exclusive(undefined, () => Promise.resolve('free'))).resolves.toBe('free');
    }),
  );
});
