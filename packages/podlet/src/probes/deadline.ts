import type { Clock } from '../contract.js';

export class DeadlineError extends Error {
  constructor(milliseconds: number) {
    super(`no answer within ${milliseconds / 1000} s`);
    this.name = 'DeadlineError';
  }
}

/**
 * Gives `work` a signal that is aborted with the caller's, or with a {@link DeadlineError} after so many milliseconds. That is
 * what is thrown then, also when the work does not stop.
 */
export async function withDeadline<T>(
  clock: Pick<Clock, 'sleep'>,
  milliseconds: number,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  signal.throwIfAborted();
  const limited = new AbortController();
  const finished = new AbortController();
  const stop = () => limited.abort(signal.reason);
  signal.addEventListener('abort', stop, { once: true });
  clock.sleep(milliseconds, finished.signal).then(
    () => limited.abort(new DeadlineError(milliseconds)),
    () => undefined,
  );
  try {
    return await Promise.race([work(limited.signal), whenAborted(limited.signal)]);
  } finally {
    finished.abort();
    signal.removeEventListener('abort', stop);
  }
}

function whenAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });
}
