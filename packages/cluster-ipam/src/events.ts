/** Events between the parts of node addressing, and the helpers that they share. */
import type { Block } from '@podwire/cluster-state';
import { describeError, PodwireError } from '@podwire/errors';
import type { Log } from '@podwire/platform';

export interface AddressingEvents {
  /** Affinities or pools have changed: saves the state, calls the listeners, wakes the background loop. @throws PodwireError RECORD_IO */
  changed(): void;
  /** The allocation record of the block may be out of date. */
  report(block: string): void;
  /** There is work for the background loop. */
  wake(): void;
}

/** For the status, by topic; each begins with a code. */
export type Problems = Map<string, string>;

const persistent: ReadonlySet<string> = new Set(['STORE_DENIED', 'STORE_FULL']);

/** Notes that the store refuses, since waiting does not solve that. @param error undefined: the call succeeded */
export function noteRefusal(problems: Problems, topic: 'blocks' | 'reports', error: unknown): void {
  if (error instanceof PodwireError && persistent.has(error.code))
    problems.set(`store ${topic}`, `${error.code}: ${topic} of this node: ${error.message}`);
  else problems.delete(`store ${topic}`);
}

/**
 * Works on one item after the other, also after failures.
 * @throws the signal's reason at once; the first error when all items are done
 */
export async function forEachTolerant<T>(
  log: Log,
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

/** The block without an owner; its borrowed addresses stay. */
export function withoutOwner({ cidr, claimedAt }: Block, loans: Block['loans']): Block {
  return { cidr, state: 'confirmed', claimedAt, loans };
}
