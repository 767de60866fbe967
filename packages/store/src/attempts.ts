import type { Clock } from '@podwire/platform';
import type { WatchOptions } from './contract.js';

/** Milliseconds between attempts to get a watch back: thousands of nodes lose theirs at the same moment. */
const firstPause = 100;
const longestPause = 10_000;

export interface Attempts {
  /** Reports the first failure in a row, and waits. */
  failed(error: unknown, signal: AbortSignal): Promise<void>;
  /** The connection is back. */
  recovered(): void;
  /** The watch works: the next pause is a short one. */
  settled(): void;
}

export function createAttempts(
  { clock, random }: { readonly clock: Clock; readonly random: () => number },
  { onInterruption, onRecovery }: Pick<WatchOptions, 'onInterruption' | 'onRecovery'>,
): Attempts {
  let isInterrupted = false;
  let pause = firstPause;
  const recovered = (): void => {
    if (!isInterrupted) return;
    isInterrupted = false;
    onRecovery?.();
  };
  return {
    failed: async (error, signal) => {
      if (!isInterrupted) onInterruption?.(error);
      isInterrupted = true;
      const wait = pause * (0.5 + random());
      pause = Math.min(2 * pause, longestPause);
      // The caller checks the signal.
      await clock.sleep(wait, signal).catch(() => undefined);
    },
    recovered,
    settled: () => {
      pause = firstPause;
      recovered();
    },
  };
}
