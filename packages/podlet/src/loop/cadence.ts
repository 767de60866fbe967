import type { Clock } from '../contract.js';

/** Does the work, waits, and again, until the signal. The work sees to its own errors. */
export async function repeat(
  clock: Clock,
  pause: () => number,
  signal: AbortSignal,
  work: () => Promise<void> | void,
): Promise<void> {
  while (!signal.aborted) {
    await work();
    if (!(await pauseFor(clock, pause(), signal))) return;
  }
}

/** @returns false when the signal came first */
export async function pauseFor(clock: Clock, milliseconds: number, signal: AbortSignal): Promise<boolean> {
  if (signal.aborted) return false;
  try {
    await clock.sleep(milliseconds, signal);
    return true;
  } catch {
    return false;
  }
}
