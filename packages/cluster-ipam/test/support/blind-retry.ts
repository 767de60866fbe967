/** A bug to plant: who hears nothing of a claim writes it again, whatever has happened since. */
import { isUncertain, type Store, type Transaction } from '@podwire/store';
import { keys } from './cluster.js';

export const never: AbortSignal = new AbortController().signal;

/** Methods of a class are not copied by a spread. */
export const bind = (store: Store): Store => ({
  kind: store.kind,
  limits: store.limits,
  get: (...args) => store.get(...args),
  put: (...args) => store.put(...args),
  delete: (...args) => store.delete(...args),
  transact: (...args) => store.transact(...args),
  list: (...args) => store.list(...args),
  watch: (...args) => store.watch(...args),
  grantLease: (...args) => store.grantLease(...args),
  close: () => store.close(),
});

/** A node without an answer to its claim simply writes it again. */
export function retryBlindly(
  store: Store,
  clock: { sleep(milliseconds: number, signal: AbortSignal): Promise<void> },
): Store {
  const isClaim = ({ conditions }: Transaction): boolean =>
    conditions.some(({ key, expect }) => expect === 'absent' && key.startsWith(keys.block('')));
  return {
    ...bind(store),
    transact: async (transaction, options) => {
      try {
        return await store.transact(transaction, options);
      } catch (error) {
        if (!isUncertain(error) || !isClaim(transaction)) throw error;
        await clock.sleep(30, options?.signal ?? never);
        return store.transact({ conditions: [], writes: transaction.writes }, options);
      }
    },
  };
}
