/** A clock for tests. */
import { onAbort } from './abort.js';
import type { Clock } from './environment.js';

export interface TestClock extends Clock {
  /** Lets time pass: sleeps end in their order, and what each causes comes to rest before time goes on. */
  advance(milliseconds: number): Promise<void>;
  /** Is later at once, as after a suspend of the machine; all sleeps that are due end together. */
  leap(milliseconds: number): void;
  /** Sets the wall clock forward or back. */
  jump(milliseconds: number): void;
  /** Lets everything happen that needs no time. */
  settle(): Promise<void>;
  /** How many sleeps are pending. */
  sleepers(): number;
  /** The clock of another machine: the same time, its wall clock ahead by so many milliseconds. */
  another(skew: number): TestClock;
}

export interface TestClockOptions {
  /** Of the wall clock at the beginning: milliseconds since 1970. */
  readonly epoch?: number;
  /** Iterations of the event loop until what needs no time has happened; a hop between memory stores and watchers needs some. */
  readonly turns?: number;
}

/** A clock whose time passes only when a test says so. */
export function createTestClock({ epoch = 1_700_000_000_000, turns = 12 }: TestClockOptions = {}): TestClock {
  return clockOn({ elapsed: 0, sleepers: new Set() }, epoch, turns);
}

interface Sleeper {
  readonly at: number;
  wake(): void;
}

/** Shared by the clocks of several machines. */
interface Timeline {
  elapsed: number;
  /** In the order in which they began to sleep. */
  readonly sleepers: Set<Sleeper>;
}

function clockOn(line: Timeline, epoch: number, turns: number): TestClock {
  let wall = epoch;
  const settle = async (): Promise<void> => {
    for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve));
  };
  return {
    now: () => wall + line.elapsed,
    elapsed: () => line.elapsed,
    sleep: (milliseconds, signal) => sleep(line, milliseconds, signal),
    advance: (milliseconds) => advance(line, milliseconds, settle),
    leap(milliseconds) {
      line.elapsed += milliseconds;
      for (const sleeper of [...line.sleepers]) if (sleeper.at <= line.elapsed) sleeper.wake();
    },
    jump: (milliseconds) => void (wall += milliseconds),
    settle,
    sleepers: () => line.sleepers.size,
    another: (skew) => clockOn(line, epoch + skew, turns),
  };
}

function sleep(line: Timeline, milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    let unsubscribe = (): void => undefined;
    const end = (settle: () => void): void => {
      line.sleepers.delete(sleeper);
      unsubscribe();
      settle();
    };
    const sleeper: Sleeper = { at: line.elapsed + milliseconds, wake: () => end(resolve) };
    line.sleepers.add(sleeper);
    unsubscribe = onAbort(signal, (reason) => end(() => reject(reason)));
  });
}

async function advance(line: Timeline, milliseconds: number, settle: () => Promise<void>): Promise<void> {
  const end = line.elapsed + milliseconds;
  await settle();
  for (let next = firstUntil(line, end); next !== undefined; next = firstUntil(line, end)) {
    line.elapsed = Math.max(line.elapsed, next.at);
    next.wake();
    await settle();
  }
  line.elapsed = end;
  await settle();
}

/** The earliest sleep; of those of the same moment the one that began first. */
function firstUntil({ sleepers }: Timeline, end: number): Sleeper | undefined {
  return [...sleepers].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0];
}
