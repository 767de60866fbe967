import fc from 'fast-check';
import { expect, test } from 'vitest';
import { KeyedMutex } from '../src/index.js';

const createGate = (): { opened: Promise<void>; open: () => void } => {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open };
};
const oneTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function createNotes(): { order: string[]; note: (name: string) => () => Promise<void> } {
  const order: string[] = [];
  return { order, note: (name) => () => Promise.resolve(void order.push(name)) };
}

test('work on one key is serial, another key runs beside it', async () => {
  const mutex = new KeyedMutex();
  const first = createGate();
  const { order, note } = createNotes();
  const a1 = mutex.withKey('a', undefined, () => first.opened.then(note('a1')));
  const a2 = mutex.withKey('a', undefined, note('a2'));
  await mutex.withKey('b', undefined, note('b'));
  expect(order).toEqual(['b']);
  expect(mutex.size).toBe(2);
  first.open();
  await Promise.all([a1, a2]);
  expect(order).toEqual(['b', 'a1', 'a2']);
  expect(mutex.size).toBe(0);
});

test('work that must begin at once is left out while its key is held or waited for, or all are', async () => {
  const mutex = new KeyedMutex();
  const gate = createGate();
  const { order, note } = createNotes();
  const a = mutex.withKey('a', undefined, () => gate.opened);
  expect(mutex.tryWithKey('a', note('a'))).toBeUndefined();
  await mutex.tryWithKey('b', note('b'));
  const all = mutex.withAll(undefined, note('all'));
  // Work on all keys that only waits keeps no other key from what is short.
  await mutex.tryWithKey('b', note('b again'));
  const waiting = mutex.withKey('c', undefined, note('c'));
  expect(mutex.tryWithKey('c', note('c'))).toBeUndefined();
  gate.open();
  await Promise.all([a, all, waiting]);
  expect(order).toEqual(['b', 'b again', 'all', 'c']);
  const alone = createGate();
  const held = mutex.withAll(undefined, () => alone.opened);
  expect(mutex.tryWithKey('b', note('b'))).toBeUndefined();
  alone.open();
  await held;
  expect(mutex.size).toBe(0);
});

test('work on all keys waits for running work, and later work waits for it', async () => {
  const mutex = new KeyedMutex();
  const first = createGate();
  const { order, note } = createNotes();
  const a = mutex.withKey('a', undefined, () => first.opened.then(note('a')));
  const all = mutex.withAll(undefined, note('all'));
  const b = mutex.withKey('b', undefined, note('b'));
  await oneTurn();
  expect(order).toEqual([]);
  first.open();
  await Promise.all([a, all, b]);
  expect(order).toEqual(['a', 'all', 'b']);
});

test('an aborted waiter leaves the queue, and those behind it move up', async () => {
  const mutex = new KeyedMutex();
  const first = createGate();
  const abort = new AbortController();
  const a = mutex.withKey('a', undefined, () => first.opened);
  const all = mutex.withAll(abort.signal, () => Promise.resolve('ran'));
  const b = mutex.withKey('b', undefined, () => Promise.resolve('b'));
  abort.abort(new Error('aborted'));
  await expect(all).rejects.toThrow('aborted');
  await expect(b).resolves.toBe('b');
  first.open();
  await a;
});

test('a failure admits the next one; an aborted signal does not enter', async () => {
  const mutex = new KeyedMutex();
  await expect(mutex.withKey('a', undefined, () => Promise.reject(new Error('x')))).rejects.toThrow('x');
  await expect(mutex.withKey('a', undefined, () => Promise.resolve(1))).resolves.toBe(1);
  const aborted = AbortSignal.abort(new Error('late'));
  await expect(mutex.withAll(aborted, () => Promise.resolve(1))).rejects.toThrow('late');
});

test('property: never two on one key, never one beside all, every piece of work is served', async () => {
  const jobs = fc.array(
    fc.record({
      key: fc.option(fc.integer({ min: 0, max: 3 })),
      turns: fc.nat({ max: 3 }),
      isAborted: fc.boolean(),
    }),
    { maxLength: 30 },
  );
  await fc.assert(
    fc.asyncProperty(jobs, async (list) => {
      const mutex = new KeyedMutex();
      const inside: (number | null)[] = [];
      let served = 0;
      const run = async ({ key, turns }: { key: number | null; turns: number }): Promise<void> => {
        if (key === null) expect(inside).toEqual([]);
        else expect(inside.filter((other) => other === key || other === null)).toEqual([]);
        inside.push(key);
        for (let i = 0; i < turns; i++) await Promise.resolve();
        inside.splice(inside.indexOf(key), 1);
        served++;
      };
      const outcomes = list.map((job) => {
        const abort = new AbortController();
        if (job.isAborted) queueMicrotask(() => abort.abort(new Error('aborted')));
        const work = (): Promise<void> => run(job);
        const entered =
          job.key === null
            ? mutex.withAll(abort.signal, work)
            : mutex.withKey(`${job.key}`, abort.signal, work);
        return entered.catch((error: Error) => {
          if (error.message !== 'aborted') throw error;
          served++;
        });
      });
      await Promise.all(outcomes);
      expect(served).toBe(list.length);
      expect(inside).toEqual([]);
      expect(mutex.size).toBe(0);
    }),
    { numRuns: 300 },
  );
});
