/** Writing. */
import { compact } from '@podwire/platform';
import type {
  CallOptions,
  Condition,
  Item,
  PutOptions,
  Revision,
  Transaction,
  TransactionOutcome,
} from '../contract.js';
import { conflict, leaseLost, unavailable } from '../failures.js';
import { toPut } from '../single-write.js';
import { isGuarded, toItem, toKey, toLeaseNumber, toTxn } from './codec.js';
import { EtcdFailure } from './failure.js';
import type { TxnResponse } from './generated/rpc.js';
import { deleteRange, put, txn } from './methods.js';
import type { Call, Session } from './session.js';

export async function putItem(
  session: Session,
  key: string,
  value: string,
  { expect, lease, signal }: PutOptions,
): Promise<Revision> {
  if (expect !== undefined) {
    const writes = [toPut(key, value, lease)];
    return writeExpecting(session, { conditions: [{ key, expect }], writes }, signal);
  }
  const request = { key: toKey(key), value: Buffer.from(value, 'utf8'), lease: toLeaseNumber(lease) };
  const { response } = await withLeases(lease === undefined ? [] : [lease], () =>
    session.call({ method: put, request, repetition: 'once', signal }),
  );
  return revisionOf(response);
}

export async function deleteItem(
  session: Session,
  key: string,
  { expect, signal }: CallOptions & { readonly expect?: Revision },
): Promise<boolean> {
  if (expect !== undefined) {
    await writeExpecting(session, { conditions: [{ key, expect }], writes: [{ op: 'delete', key }] }, signal);
    return true;
  }
  const request = { key: toKey(key) };
  const { response } = await session.call({ method: deleteRange, request, repetition: 'once', signal });
  return response.deleted > 0;
}

/** @throws PodwireError STORE_CONFLICT */
async function writeExpecting(
  session: Session,
  transaction: Transaction & { readonly conditions: readonly [Condition] },
  signal: AbortSignal | undefined,
): Promise<Revision> {
  const outcome = await transact(session, transaction, compact({ signal }));
  if (outcome.committed) return outcome.revision;
  throw conflict(transaction.conditions[0], outcome.found[0]);
}

/**
 * A transaction whose answer was lost is put to another member when it cannot happen twice. When that one commits, it is
 * certain; when it does not, the first may have done so, or another client was faster: it is unknown which.
 */
export async function transact(
  session: Session,
  transaction: Transaction,
  { signal }: CallOptions,
): Promise<TransactionOutcome> {
  const { conditions, writes } = transaction;
  const leases = writes.flatMap((write) => (write.op === 'put' ? (write.lease ?? []) : []));
  const repetition: Call<never, never>['repetition'] =
    writes.length === 0 ? 'read' : isGuarded(transaction) ? 'guarded' : 'once';
  const { response, isRepeated } = await withLeases(leases, () =>
    session.call({ method: txn, request: toTxn(transaction), repetition, signal }),
  );
  if (response.succeeded) return { committed: true, revision: revisionOf(response) };
  if (isRepeated)
    throw unavailable('an answer of etcd was lost; the transaction may have been done', { uncertain: true });
  return { committed: false, found: conditions.map((_, index) => foundAt(response, index)) };
}

function foundAt({ responses }: TxnResponse, index: number): Item | undefined {
  const kv = responses[index]?.responseRange?.kvs[0];
  return kv === undefined ? undefined : toItem(kv);
}

/** etcd does not say which lease has ended. */
async function withLeases<T>(leases: readonly string[], work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof EtcdFailure && error.kind === 'no-lease')
      throw leaseLost([...new Set(leases)].join(', '), error);
    throw error;
  }
}

function revisionOf({ header }: { readonly header?: { readonly revision: number } | undefined }): Revision {
  if (header === undefined) throw unavailable('etcd answered without a header', { uncertain: true });
  return header.revision;
}
