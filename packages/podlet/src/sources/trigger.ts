/** Waiting for something to happen, and for it to calm down. */
import type { Clock } from '../contract.js';

export interface Trigger {
  fire(this: void): void;
  /** Waits until it has rung since it was taken last. @throws the signal's reason */
  fired(signal: AbortSignal): Promise<void>;
  /** How often it has rung, ever. */
  count(): number;
  /** Makes it silent again. @returns when it rang first, milliseconds since the epoch */
  take(): number | undefined;
}

export function createTrigger(clock: Pick<Clock, 'now'>): Trigger {
  let count = 0;
  let firstAt: number | undefined;
  let wake: () => void = () => undefined;
  return {
    fire() {
      count += 1;
      firstAt ??= clock.now();
      wake();
    },
    fired: (signal) =>
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
export function fireEvery(trigger: Trigger, milliseconds: number, clock: Clock, signal: AbortSignal): void {
  const next = (): void => {
    clock.sleep(milliseconds, signal).then(
      () => {
        trigger.fire();
        next();
      },
      () => undefined,
    );
  };
  next();
}

/** A program that writes a file truncates it, writes, and perhaps writes again, all within a millisecond or two. */
const quiet = 2;
/** A file that is written all the time is read nevertheless. */
const mostQuiets = 5;

/** Returns when it has not rung for two milliseconds, after ten at the latest. */
export async function debounce(trigger: Trigger, clock: Clock, signal: AbortSignal): Promise<void> {
  for (let round = 0; round < mostQuiets; round++) {
    const before = trigger.count();
    await clock.sleep(quiet, signal);
    if (trigger.count() === before) return;
  }
}
