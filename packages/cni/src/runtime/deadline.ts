import { CniError, errorCodes } from '../error.js';

/**
 * Runs `work` with a signal that aborts after `milliseconds`, or when `outer` does; the reason is a
 * CniError of code 11 either way. Work that
 * ignores the signal is waited for: a plugin must be seen dead before its container is touched again.
 */
export async function withDeadline<T>(
  milliseconds: number,
  outer: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const forward = (): void => controller.abort(givenUp(outer?.reason));
  const timer = setTimeout(() => controller.abort(deadlinePassed(milliseconds)), milliseconds);
  outer?.addEventListener('abort', forward, { once: true });
  if (outer?.aborted === true) forward();
  try {
    return await work(controller.signal);
  } finally {
    clearTimeout(timer);
    outer?.removeEventListener('abort', forward);
  }
}

function deadlinePassed(milliseconds: number): CniError {
  return new CniError(errorCodes.tryAgainLater, `the deadline of ${milliseconds} ms has passed`);
}

/** What an operation fails with when its caller gave it up. */
export function givenUp(reason: unknown): CniError {
  if (reason instanceof CniError) return reason;
  const why = reason instanceof Error ? reason.message : String(reason);
  return new CniError(errorCodes.tryAgainLater, `the operation was given up: ${why}`, { cause: reason });
}
