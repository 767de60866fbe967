import { withDeadline } from '@podwire/platform';
import { CniError, errorCodes } from '../error.js';

/**
 * Runs `work` with a signal that aborts after so many milliseconds, or when `outer` does; its reason is a CniError of code 11.
 * Work that ignores it is awaited: a plugin must have ended before its container is touched again.
 */
export function withOperationDeadline<T>(
  milliseconds: number,
  outer: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  return withDeadline(outer, milliseconds, work, {
    reason: () => new CniError(errorCodes.tryAgainLater, `the deadline of ${milliseconds} ms has passed`),
    outerReason: cancelled,
  });
}

/** The error of an operation that its caller has cancelled. */
export function cancelled(reason: unknown): CniError {
  if (reason instanceof CniError) return reason;
  const why = reason instanceof Error ? reason.message : String(reason);
  return new CniError(errorCodes.tryAgainLater, `the operation was cancelled: ${why}`, { cause: reason });
}
