/** Transactions of the background: refused ones teach what is there now, doubtful ones are looked into by whoever comes next. */
import type { Revision, Transaction } from '@podwire/store';
import { type Core, learn, within } from './core.js';

/**
 * @returns the revision; undefined when a condition did not hold (the copy knows why then)
 * @throws as the store does
 */
export async function writeAll(
  core: Core,
  transaction: Transaction,
  signal: AbortSignal,
): Promise<Revision | undefined> {
  const outcome = await within(core.clock, core.timing.call, signal, (either) =>
    core.store.transact(transaction, { signal: either }),
  );
  if (outcome.committed) return outcome.revision;
  learn(core, transaction.conditions, outcome.found);
  return undefined;
}
