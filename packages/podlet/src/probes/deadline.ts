import { type Clock, orAborted, withDeadline } from '@podwire/platform';

export class DeadlineError extends Error {
  constructor(milliseconds: number) {
    super(`no answer within ${milliseconds / 1000} s`);
    this.name = 'DeadlineError';
  }
}

/** Rejects with a {@link DeadlineError} after so many milliseconds, even if the work ignores its signal. */
export async function answerWithin<T>(
  clock: Pick<Clock, 'sleep'>,
  milliseconds: number,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  signal.throwIfAborted();
  const reason = () => new DeadlineError(milliseconds);
  return withDeadline(signal, milliseconds, (either) => orAborted(work(either), either), { clock, reason });
}
