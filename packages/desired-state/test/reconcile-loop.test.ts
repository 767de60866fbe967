import { ReconcileLoop, type ReconcileLoopOptions } from '@podwire/desired-state';
import type { Change } from '@podwire/engine';
import { silentLog } from '@podwire/platform';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Controller } from './controller.js';
import { Database } from './database.js';

const hour = 3_600_000;

let state: { ready: boolean; problem: string | undefined };
let rounds: number;
let elapsed: number;
/** Work of the next rounds. */
let work: (signal: AbortSignal) => Promise<void>;

const createLoop = (options: Partial<ReconcileLoopOptions<number>> = {}): ReconcileLoop<number> =>
  new ReconcileLoop({
    reconcile: async (signal) => {
      rounds += 1;
      const round = rounds;
      await work(signal);
      return round;
    },
    ...{ state, interval: hour, deadline: 10_000, elapsed: () => elapsed, log: silentLog },
    describeStop: () => new Error('the end'),
    ...options,
  });

const untilAborted = async (signal: AbortSignal): Promise<void> =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  state = { ready: true, problem: undefined };
  [rounds, elapsed] = [0, 0];
  work = () => Promise.resolve();
});

afterEach(() => {
  vi.useRealTimers();
});

test('a controller is held against its database in intervals, in one round after the other', async () => {
  const database = new Database();
  const controller = new Controller(database, { read: () => undefined, write: vi.fn(), append: vi.fn() });
  controller.source = new Map([['red', { name: 'red', cidr: '10.1.0.0/16', ports: [] }]]);
  await controller.follow('red');
  let noteReport: (report: readonly Change[]) => void = () => undefined;
  const nextReport = async () => new Promise((resolve) => (noteReport = resolve));
  const loop = new ReconcileLoop({
    reconcile: () => controller.reconcile(),
    onReport: (report) => noteReport(report),
    ...{ state, interval: hour, deadline: 10_000, elapsed: () => 0, log: silentLog },
    describeStop: () => new Error('the end'),
  });
  loop.start();
  await loop.ready;
  expect(loop.last).toEqual([]);
  database.rows.delete('switch/red');
  const repaired = nextReport();
  await vi.advanceTimersByTimeAsync(hour);
  expect(await repaired).toEqual([{ owner: 'subnet:red', action: 'repaired', what: 'row switch/red' }]);
  await loop.stop();
});

test('a round that fails, or leaves something wrong, is followed by another one soon, and ever later', async () => {
  state = { ready: false, problem: 'there is no database' };
  const failures: unknown[] = [];
  const loop = createLoop({ onFailure: (error) => failures.push(error) });
  work = () => Promise.reject(new Error('away'));
  loop.start();
  await vi.advanceTimersByTimeAsync(499);
  expect(rounds).toBe(1);
  await vi.advanceTimersByTimeAsync(1);
  expect(rounds).toBe(2);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(failures).toEqual([1, 2, 3].map(() => new Error('away')));
  work = () => Promise.resolve(void Object.assign(state, { ready: true, problem: undefined }));
  await vi.advanceTimersByTimeAsync(2_000);
  await loop.ready;
  await vi.advanceTimersByTimeAsync(hour - 1);
  expect([rounds, loop.last]).toEqual([4, 4]);
  await loop.stop();
});

test('a nudge brings a round at once, and another one after the round that is under way', async () => {
  const loop = createLoop();
  loop.nudge();
  expect(rounds).toBe(0);
  loop.start();
  await loop.ready;
  await vi.advanceTimersByTimeAsync(0);
  let end = (): void => undefined;
  work = () => new Promise<void>((resolve) => (end = resolve));
  loop.nudge();
  loop.nudge();
  loop.nudge();
  await vi.advanceTimersByTimeAsync(0);
  expect(rounds).toBe(2);
  work = () => Promise.resolve();
  end();
  await vi.advanceTimersByTimeAsync(0);
  expect(rounds).toBe(3);
  await loop.stop();
});

test('a round is given up at its deadline, and when the loop is stopped', async () => {
  const loop = createLoop();
  work = untilAborted;
  const late = expect(loop.run()).rejects.toThrow('it took longer than 10000 ms');
  await vi.advanceTimersByTimeAsync(10_000);
  await late;
  loop.start();
  await loop.stop();
  await expect(loop.ready).rejects.toThrow('the end');
  await expect(loop.run()).rejects.toThrow('the end');
  expect(rounds).toBe(2);
});

test('a loop whose round is stuck beyond its deadline does not work any more', async () => {
  const loop = createLoop();
  expect(loop.isWorking()).toBe(true);
  work = untilAborted;
  loop.start();
  elapsed = 40_000;
  expect(loop.isWorking()).toBe(true);
  elapsed += 1;
  expect(loop.isWorking()).toBe(false);
  await loop.stop();
});

test('another interval counts from the moment on at which it is set', async () => {
  const loop = createLoop();
  loop.start();
  await loop.ready;
  await vi.advanceTimersByTimeAsync(0);
  loop.setTimes({ interval: 1_000, deadline: 10_000 });
  await vi.advanceTimersByTimeAsync(1_000);
  expect(rounds).toBe(2);
  await loop.stop();
});
