/** Something between a node and its store that lets a test come in between. */
import type { CallOptions, Store, Transaction, TransactionOutcome } from '@podwire/store';

export type Transact = (
  transaction: Transaction,
  options: CallOptions,
  store: Store,
) => Promise<TransactionOutcome>;

/** The store with other transactions. */
export const withTransact =
  (transact: Transact) =>
  (store: Store): Store =>
    new Proxy(store, {
      get(target, property) {
        if (property === 'transact')
          return (transaction: Transaction, options: CallOptions = {}) =>
            transact(transaction, options, target);
        const value: unknown = Reflect.get(target, property);
        return typeof value === 'function' ? (value.bind(target) as unknown) : value;
      },
    });

/** A call without an answer: rejects when its caller gives up. */
export const unanswered = ({ signal }: CallOptions): Promise<never> =>
  new Promise((_, reject) => {
    signal?.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });

/** The text that the transaction writes there. */
export function written({ writes }: Transaction, key: string): string | undefined {
  const write = writes.find((each) => each.op === 'put' && each.key === key);
  return write?.op === 'put' ? write.value : undefined;
}
