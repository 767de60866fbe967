/** Work on several things of which one may fail for ever. */
import { describeError } from '@podwire/errors';
import type { Log } from '@podwire/platform';

/**
 * One after the other, and each gets its turn whatever has become of those before.
 * @throws the signal's reason at once; what the first that failed has thrown, when all have had their turn
 */
export async function forEach<T>(
  { log }: { readonly log: Log },
  items: Iterable<T>,
  signal: AbortSignal,
  work: (item: T) => Promise<unknown>,
): Promise<void> {
  const failures: unknown[] = [];
  for (const item of items) {
    signal.throwIfAborted();
    try {
      await work(item);
    } catch (error) {
      signal.throwIfAborted();
      failures.push(error);
    }
  }
  for (const err of failures.slice(1)) log.warn({ err }, `addressing: ${describeError(err)}`);
  if (failures.length > 0) throw failures[0];
}
