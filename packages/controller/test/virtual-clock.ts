/** Time that goes on only when a test says so; monotonic time and wall time can be moved apart. */
import type { Clock } from '@podwire/rim';

export interface VirtualClock extends Clock {
  /** Lets time pass; sleepers wake in their order, and what they do comes to rest before time goes on. */
  advance(milliseconds: number): Promise<void>;
  /** Sets the wall clock forward or back. */
  jump(milliseconds: number): void;
  /** Another machine's: the same time with a wall clock of its own. */
  another(skew: number): VirtualClock;
}

interface Sleeper {
  readonly at: number;
  readonly wake: () => void;
}

interface Timeline {
  time: number;
  readonly sleepers: Set<Sleeper>;
}

/** Everything that is ready to run has run. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 12; turn++) await new Promise((resolve) => setImmediate(resolve));
}

async function advance(line: Timeline, milliseconds: number): Promise<void> {
  const end = line.time + milliseconds;
  await settle();
  for (;;) {
    const [next] = [...line.sleepers].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at);
    if (next === undefined) break;
    line.time = Math.max(line.time, next.at);
    next.wake();
    await settle();
  }
  line.time = end;
  await settle();
}

function sleep(line: Timeline, milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = (done: () => void): void => {
      line.sleepers.delete(sleeper);
      signal.removeEventListener('abort', stop);
      done();
    };
    const stop = (): void => end(() => reject(signal.reason as Error));
    const sleeper: Sleeper = { at: line.time + milliseconds, wake: () => end(resolve) };
    line.sleepers.add(sleeper);
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
  });
}

export function createVirtualClock(
  line: Timeline = { time: 0, sleepers: new Set() },
  skew = 0,
): VirtualClock {
  let wall = 1_000_000_000_000 + skew;
  return {
    now: () => wall + line.time,
    elapsed: () => line.time,
    sleep: (milliseconds, signal) => sleep(line, milliseconds, signal),
    advance: (milliseconds) => advance(line, milliseconds),
    jump: (milliseconds) => void (wall += milliseconds),
    another: (other) => createVirtualClock(line, other),
  };
}
