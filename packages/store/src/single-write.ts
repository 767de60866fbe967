/** One item written alone, for back ends that do it themselves. */
import type {
  Condition,
  Expectation,
  Item,
  LeaseId,
  Revision,
  Transaction,
  TransactionOutcome,
  Write,
} from './contract.js';
import { conflict } from './failures.js';

export function toPut(key: string, value: string, lease: LeaseId | undefined): Write {
  return lease === undefined ? { op: 'put', key, value } : { op: 'put', key, value, lease };
}

export const holds = ({ expect }: Condition, found: Item | undefined): boolean =>
  expect === 'absent' ? found === undefined : found?.revision === expect;

/** `get` and `transact` see the same: nothing comes between. @throws PodwireError STORE_CONFLICT */
export function writeOne(
  store: { get(key: string): Item | undefined; transact(whole: Transaction): TransactionOutcome },
  write: Write,
  expect: Expectation | undefined,
): { readonly revision: Revision; readonly existed: boolean } {
  const { key } = write;
  const found = store.get(key);
  const outcome = store.transact({
    conditions: expect === undefined ? [] : [{ key, expect }],
    writes: [write],
  });
  if (!outcome.committed) throw conflict({ key, expect: expect ?? 'absent' }, found);
  return { revision: outcome.revision, existed: found !== undefined };
}
