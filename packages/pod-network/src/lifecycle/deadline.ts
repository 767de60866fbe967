import { CniError, errorCodes } from '@podwire/cni';

/** Runs work that may consist of several operations, with one signal for the deadline of all and for the caller's. */
export async function withinTotal<T>(
  milliseconds: number,
  outer: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const deadline = new AbortController();
  const passed = new CniError(errorCodes.tryAgainLater, `the deadline of ${milliseconds} ms has passed`);
  const timer = setTimeout(() => deadline.abort(passed), milliseconds);
  const forward = (): void => deadline.abort(outer?.reason);
  outer?.addEventListener('abort', forward, { once: true });
  if (outer?.aborted === true) forward();
  try {
    return await work(deadline.signal);
  } finally {
    clearTimeout(timer);
    outer?.removeEventListener('abort', forward);
  }
}
