import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createLocks } from '../src/locks.js';

const never = new AbortController().signal;
const gate = (): { opened: Promise<void>; open: () => void } => {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open };
};
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('locks', () => {
  test('one endpoint is serial, another one goes on', async () => {
    const locks = createLocks();
    const first = gate();
    const order: string[] = [];
    const note = (name: string) => () => Promise.resolve(void order.push(name));
    const a1 = locks.withEndpoint('a', never, () => first.opened.then(() => void order.push('a1')));
    const a2 = locks.withEndpoint('a', never, note('a2'));
    const b = locks.withEndpoint('b', never, note('b'));
    await b;
    expect(order).toEqual(['b']);
    first.open();
    await Promise.all([a1, a2]);
    expect(order).toEqual(['b', 'a1', 'a2']);
  });

  test('what concerns all waits for everyone, and later ones wait for it', async () => {
    const locks = createLocks();
    const first = gate();
    const order: string[] = [];
    const note = (name: string) => () => Promise.resolve(void order.push(name));
    const a = locks.withEndpoint('a', never, () => first.opened.then(() => void order.push('a')));
    const all = locks.withAll(never, note('all'));
    const b = locks.withEndpoint('b', never, note('b'));
    await turn();
    expect(order).toEqual([]);
    first.open();
    await Promise.all([a, all, b]);
    expect(order).toEqual(['a', 'all', 'b']);
  });

  test('who gives up leaves the queue, and those behind move up', async () => {
    const locks = createLocks();
    const first = gate();
    const impatient = new AbortController();
    const a = locks.withEndpoint('a', never, () => first.opened);
    const all = locks.withAll(impatient.signal, () => Promise.resolve('ran'));
    const b = locks.withEndpoint('b', never, () => Promise.resolve('b'));
    impatient.abort(new Error('no patience'));
    await expect(all).rejects.toThrow('no patience');
    await expect(b).resolves.toBe('b');
    first.open();
    await a;
  });

  test('a failure lets the next one in', async () => {
    const locks = createLocks();
    await expect(locks.withEndpoint('a', never, () => Promise.reject(new Error('x')))).rejects.toThrow('x');
    await expect(locks.withEndpoint('a', never, () => Promise.resolve(1))).resolves.toBe(1);
  });

  test('an aborted caller never enters', async () => {
    const locks = createLocks();
    await expect(
      locks.withAll(AbortSignal.abort(new Error('late')), () => Promise.resolve(1)),
    ).rejects.toThrow('late');
  });

  test('property: never two on one key, never anyone beside all, everyone is served', async () => {
    const jobs = fc.array(
      fc.record({
        key: fc.option(fc.integer({ min: 0, max: 3 })),
        turns: fc.nat({ max: 3 }),
        impatient: fc.boolean(),
      }),
      { maxLength: 30 },
    );
    await fc.assert(
      fc.asyncProperty(jobs, async (list) => {
        const locks = createLocks();
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
          if (job.impatient) queueMicrotask(() => abort.abort(new Error('gave up')));
          const work = (): Promise<void> => run(job);
          const entered =
            job.key === null
              ? locks.withAll(abort.signal, work)
              : locks.withEndpoint(`${job.key}`, abort.signal, work);
          return entered.catch((error: Error) => {
            if (error.message !== 'gave up') throw error;
            served++;
          });
        });
        await Promise.all(outcomes);
        expect(served).toBe(list.length);
        expect(inside).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });
});
