/** Waiting for something to happen, and for it to calm down. */
import type { Clock } from '../contract.js';

export interface Bell {
  ring(this: void): void;
  /** Waits until it has rung since it was taken last. @throws the signal's reason */
  rung(signal: AbortSignal): Promise<void>;
  /** How often it has rung, ever. */
  count(): number;
  /** Makes it silent again. @returns when it rang first, milliseconds since the epoch */
  take(): number | undefined;
}

export function createBell(clock: Pick<Clock, 'now'>): Bell {
  let count = 0;
  let firstAt: number | undefined;
  let wake: () => void = () => undefined;
  return {
    ring() {
      count += 1;
      firstAt ??= clock.now();
      wake();
    },
    rung: (signal) =>
      new Promise((resolve, reject) => {
        const refuse = (): void => reject(signal.reason as Error);
        wake = () => {
          signal.removeEventListener('abort', refuse);
          resolve();
        };
        if (signal.aborted) refuse();
        else if (firstAt !== undefined) resolve();
        else signal.addEventListener('abort', refuse, { once: true });
      }),
    count: () => count,
    take() {
      const at = firstAt;
      firstAt = undefined;
      return at;
    },
  };
}

/** Rings every so often until the signal. */
export function keepRinging(bell: Bell, milliseconds: number, clock: Clock, signal: AbortSignal): void {
  const next = (): void => {
    clock.sleep(milliseconds, signal).then(
      () => {
        bell.ring();
        next();
      },
      () => undefined,
    );
  };
  next();
}

/** A program that writes a file truncates it, writes, and perhaps writes again, all within a millisecond or two. */
const quiet = 2;
/** Somebody who never stops writing is read nevertheless. */
const mostQuiets = 5;

/** Returns when it has not rung for two milliseconds, after ten at the latest. */
export async function waitUntilQuiet(bell: Bell, clock: Clock, signal: AbortSignal): Promise<void> {
  for (let round = 0; round < mostQuiets; round++) {
    const before = bell.count();
    await clock.sleep(quiet, signal);
    if (bell.count() === before) return;
  }
}
