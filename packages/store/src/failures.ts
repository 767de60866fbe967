/** The errors that all back ends have in common. */
import { PodwireError } from '@podwire/errors';
import type { Condition, Item, LeaseId } from './contract.js';

/** STORE_CONFLICT of a single write. @param found what is there now */
export function conflict({ key, expect }: Condition, found: Item | undefined): PodwireError {
  const expected = expect === 'absent' ? 'to be absent' : `at revision ${expect}`;
  const is = found === undefined ? 'absent' : `at revision ${found.revision}`;
  return new PodwireError('STORE_CONFLICT', `${key} was expected ${expected} and is ${is}`, {
    details: { key, found: found?.revision },
  });
}

export function leaseLost(lease: LeaseId, cause?: unknown): PodwireError {
  return new PodwireError('STORE_LEASE_LOST', `lease ${lease} has ended`, { cause, details: { lease } });
}

/**
 * STORE_UNAVAILABLE.
 * @param uncertain it is unknown whether the write was done
 */
export function unavailable(
  message: string,
  { uncertain = false, cause }: { readonly uncertain?: boolean; readonly cause?: unknown } = {},
): PodwireError {
  return new PodwireError('STORE_UNAVAILABLE', message, { cause, details: { uncertain } });
}

/** True if a write may have been done in spite of the error. */
export function isUncertain(error: unknown): boolean {
  return error instanceof PodwireError && error.details['uncertain'] === true;
}
