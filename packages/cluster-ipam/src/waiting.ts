/** Waiting by the clock that was passed in. */
import { type Clock, orAborted } from '@podwire/platform';
import type { Timing } from './contract.js';

/** Runs work with a signal that aborts after so many milliseconds (with `tooLate`), or with `signal` and its reason. */
export async function within<T>(
  clock: Clock,
  milliseconds: number,
  signal: AbortSignal,
  work: (either: AbortSignal) => Promise<T>,
  tooLate: Error = new DOMException('time is up', 'TimeoutError'),
): Promise<T> {
  signal.throwIfAborted();
  const either = new AbortController();
  const over = new AbortController();
  const stop = (): void => either.abort(signal.reason);
  signal.addEventListener('abort', stop, { once: true });
  clock.sleep(milliseconds, over.signal).then(
    () => either.abort(tooLate),
    () => undefined,
  );
  try {
    return await work(either.signal);
  } finally {
    signal.removeEventListener('abort', stop);
    over.abort();
  }
}

/** One after the other, in the order of asking. */
export interface Turns {
  /** @throws the signal's reason while waiting, and what `work` throws */
  take<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T>;
}

export function createTurns(): Turns {
  let last: Promise<unknown> = Promise.resolve();
  return {
    async take(signal, work) {
      const before = last;
      let done = (): void => undefined;
      last = new Promise<void>((resolve) => (done = resolve));
      try {
        await orAborted(before, signal);
        return await work();
      } finally {
        // Whoever comes next also waits for those before, when this one has given up.
        void before.then(done, done);
      }
    },
  };
}

/** Milliseconds before the next attempt, after so many failures in a row. */
export function pauseAfter(failures: number, { firstPause, lastPause }: Timing): number {
  return Math.min(firstPause * 2 ** Math.max(0, failures - 1), lastPause);
}

export function completeTiming(given: Partial<Timing> | undefined, fenceAfter: number): Timing {
  return {
    call: 5_000,
    confirmEvery: Math.min(fenceAfter / 10, 60_000),
    tidyEvery: 15_000,
    keepSurplus: 60_000,
    giveBackAfter: 3_000,
    loanAnswer: 2_000,
    reportAgain: 300_000,
    firstPause: 200,
    lastPause: 10_000,
    ...given,
  };
}
