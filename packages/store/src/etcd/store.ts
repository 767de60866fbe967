import type { Store } from '../contract.js';
import { checkKey, checkPrefix, checkTransaction, checkValue } from '../keys.js';
import { grantLease } from './lease.js';
import type { EtcdOptions, EtcdSpec } from './options.js';
import { readItem, readListing } from './reads.js';
import { Session } from './session.js';
import { watchPrefix } from './watch.js';
import { deleteItem, putItem, transact } from './writes.js';

/** etcd's own limits, unless an administrator changed them: 128 operations, 1.5 MiB for a whole request. */
export const limits = { operations: 128, valueBytes: 1024 * 1024 } as const;

export function createEtcdStore(spec: EtcdSpec, options: EtcdOptions): Store {
  const session = new Session(spec, options);
  return {
    kind: 'etcd',
    limits,
    get: async (key, { signal } = {}) => {
      checkKey(key);
      return readItem(session, key, signal);
    },
    put: async (key, value, putOptions = {}) => {
      checkKey(key);
      checkValue(key, value, limits);
      return putItem(session, key, value, putOptions);
    },
    delete: async (key, deleteOptions = {}) => {
      checkKey(key);
      return deleteItem(session, key, deleteOptions);
    },
    transact: async (transaction, callOptions = {}) => {
      checkTransaction(transaction, limits);
      return transact(session, transaction, callOptions);
    },
    list: async (prefix, { signal } = {}) => {
      checkPrefix(prefix);
      const { items, revision } = await readListing(session, prefix, signal);
      return { items, revision };
    },
    watch: (prefix, watchOptions) => {
      checkPrefix(prefix);
      return watchPrefix(session, prefix, watchOptions);
    },
    grantLease: (ttl, callOptions = {}) => grantLease(session, ttl, callOptions),
    close: () => {
      session.close();
      return Promise.resolve();
    },
  };
}
