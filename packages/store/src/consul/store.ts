import { setMaxListeners } from 'node:events';
import { compact } from '@podwire/platform';
import type { CallOptions, Item, Store, StoreLimits, Transaction, TransactionOutcome } from '../contract.js';
import { conflict, unavailable } from '../failures.js';
import { checkKey, checkPrefix, checkTransaction } from '../keys.js';
import { toPut } from '../single-write.js';
import { type ConsulHttp, createHttp } from './http.js';
import { createSession } from './lease.js';
import type { ConsulOptions, ConsulSpec } from './options.js';
import { readIndex, readItem, readListing } from './reads.js';
import { commit, mostOperations, readFound } from './transaction.js';
import { watchPrefix } from './watch.js';

/**
 * Consul bounds a request to 512 KiB (`txn_max_req_len`, `kv_max_value_size`), and values travel as base64.
 */
const limits: StoreLimits = { operations: mostOperations, valueBytes: 380_000 };

/**
 * A store in Consul's KV (1.7 or later), for all that can read and write below the root and create sessions.
 * @throws PodwireError STORE_DENIED when a file of the token or of TLS cannot be read
 */
export function openConsulStore(spec: ConsulSpec, { log, clock, deadline }: ConsulOptions): Store {
  const http = createHttp(spec, log, deadline);
  const closing = new AbortController();
  // One for each watch.
  setMaxListeners(0, closing.signal);
  return {
    kind: 'consul',
    limits,
    ...reading(http),
    ...writing(http),
    watch(prefix, options) {
      checkPrefix(prefix);
      return watchPrefix({ http, clock, closed: closing.signal }, prefix, options);
    },
    grantLease: (ttl, { signal } = {}) => createSession(http, ttl, signal),
    close() {
      closing.abort();
      http.close();
      return Promise.resolve();
    },
  };
}

function reading(http: ConsulHttp): Pick<Store, 'get' | 'list'> {
  return {
    async get(key, { signal } = {}) {
      checkKey(key);
      return readItem(http, key, signal);
    },
    async list(prefix, { signal } = {}) {
      checkPrefix(prefix);
      return readListing(http, prefix, signal);
    },
  };
}

function writing(http: ConsulHttp): Pick<Store, 'put' | 'delete' | 'transact'> {
  const transact = (transaction: Transaction, options: CallOptions = {}) => {
    checkTransaction(transaction, limits);
    return commitWhole(http, transaction, options.signal);
  };
  return {
    async transact(transaction, options) {
      return transact(transaction, options);
    },
    async put(key, value, { expect, lease, signal } = {}) {
      const outcome = await transact(
        {
          conditions: expect === undefined ? [] : [{ key, expect }],
          writes: [toPut(key, value, lease)],
        },
        compact({ signal }),
      );
      if (outcome.committed) return outcome.revision;
      throw conflict({ key, expect: expect ?? 'absent' }, outcome.found[0]);
    },
    async delete(key, { expect, signal } = {}) {
      checkKey(key);
      if (expect === undefined) return deleteWhatIsThere(http, key, signal);
      const { committed } = await deleteAt(http, key, expect, signal);
      if (committed) return true;
      throw conflict({ key, expect }, await readItem(http, key, signal));
    },
  };
}

async function commitWhole(
  http: ConsulHttp,
  transaction: Transaction,
  signal: AbortSignal | undefined,
): Promise<TransactionOutcome> {
  const { conditions, writes } = transaction;
  const outcome = await commit(http, transaction, signal);
  if (!outcome.committed)
    return {
      committed: false,
      found: await readFound(conditions, (key) => readItem(http, key, signal)),
    };
  const key = writes[0]?.key ?? conditions[0]?.key ?? '/';
  return { committed: true, revision: outcome.revision ?? (await readIndexAfter(http, key, signal)) };
}

/** After deletions. What went wrong now does not mean that they were not done. */
async function readIndexAfter(
  http: ConsulHttp,
  key: string,
  signal: AbortSignal | undefined,
): Promise<number> {
  try {
    return await readIndex(http, key, signal);
  } catch (cause) {
    signal?.throwIfAborted();
    throw unavailable('Consul took a transaction and did not answer after it', { uncertain: true, cause });
  }
}

const deleteAt = (http: ConsulHttp, key: string, expect: number, signal: AbortSignal | undefined) =>
  commit(http, { conditions: [{ key, expect }], writes: [{ op: 'delete', key }] }, signal);

/** Consul does not say whether there was something: what was read is deleted, as often as it changes meanwhile. */
async function deleteWhatIsThere(
  http: ConsulHttp,
  key: string,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  for (;;) {
    const item: Item | undefined = await readItem(http, key, signal);
    if (item === undefined) return false;
    const { committed } = await deleteAt(http, key, item.revision, signal);
    if (committed) return true;
  }
}
