/** Calls to the store, each with its deadline. */
import {
  type Item,
  type Revision,
  type Transaction,
  type TransactionOutcome,
  unavailable,
} from '@podwire/store';
import { type Core, learn } from './core.js';
import { within } from './waiting.js';

/** @throws as the store does */
export async function readItem(
  { store, clock, timing }: Core,
  key: string,
  signal: AbortSignal,
): Promise<Item | undefined> {
  const work = (either: AbortSignal): Promise<Item | undefined> => store.get(key, { signal: either });
  return within(clock, timing.call, signal, work, tooLate(false));
}

/** @throws as the store does; when time is up, nobody knows whether it was done */
export async function transact(
  { store, clock, timing }: Core,
  transaction: Transaction,
  signal: AbortSignal,
): Promise<TransactionOutcome> {
  const work = (either: AbortSignal): Promise<TransactionOutcome> =>
    store.transact(transaction, { signal: either });
  return within(clock, timing.call, signal, work, tooLate(true));
}

const tooLate = (uncertain: boolean): Error => unavailable('the store did not answer in time', { uncertain });

/**
 * Refused ones teach what is there now; doubtful ones are looked into by whoever comes next.
 * @returns the revision; undefined when a condition did not hold (the cache knows why then)
 * @throws as the store does
 */
export async function writeAll(
  core: Core,
  transaction: Transaction,
  signal: AbortSignal,
): Promise<Revision | undefined> {
  const outcome = await transact(core, transaction, signal);
  if (outcome.committed) return outcome.revision;
  learn(core, transaction.conditions, outcome.found);
  return undefined;
}
