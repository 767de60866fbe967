/** A clock whose time passes only when no work is left at the present moment: hours of a cluster in seconds. */
import { setImmediate } from 'node:timers/promises';
import { type Clock, Heap, onAbort } from '@podwire/platform';

export interface VirtualClock extends Clock {
  /** Runs everything in order of time until `done`. @throws Error when no sleep is pending */
  run(done: () => boolean): Promise<void>;
}

interface Sleeper {
  readonly at: number;
  readonly number: number;
  wake(): void;
}

/** @param epoch wall clock time at the beginning, in milliseconds since 1970 */
export function createVirtualClock(epoch = 0): VirtualClock {
  const sleepers = new Heap<Sleeper>(isBefore);
  let elapsed = 0;
  let count = 0;
  return {
    now: () => epoch + elapsed,
    elapsed: () => elapsed,
    sleep: (milliseconds, signal) =>
      new Promise((resolve, reject) => {
        if (signal.aborted) return void reject(signal.reason as Error);
        const unsubscribe = onAbort(signal, reject);
        const wake = (): void => {
          unsubscribe();
          resolve();
        };
        sleepers.push({ at: elapsed + Math.max(0, milliseconds), number: count++, wake });
      }),
    async run(done) {
      for (;;) {
        // One iteration of the event loop: every promise that can settle has settled.
        await setImmediate();
        if (done()) return;
        const next = sleepers.pop();
        if (next === undefined) throw new Error('no sleep is pending in the simulation');
        elapsed = Math.max(elapsed, next.at);
        next.wake();
        // Sleeps of the same moment end together: an iteration of the event loop for each would be most of the cost.
        while (sleepers.first?.at === next.at) sleepers.pop()!.wake();
      }
    },
  };
}

const isBefore = (a: Sleeper, b: Sleeper): boolean => a.at < b.at || (a.at === b.at && a.number < b.number);
