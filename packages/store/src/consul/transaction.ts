/**
 * All writes are transactions (`/v1/txn`), single ones too: nothing else of Consul's does a write of ours whole.
 *
 * - `set` keeps the session that a key is locked with, and writes nothing at all (the ModifyIndex stays) when the text is the
 *   same. Ours end the binding to a lease, and every one of them counts. So a put deletes first what it replaces.
 * - A key goes with a session only when it is locked with it: a put with a lease is a `lock`.
 * - `DELETE ?cas=` says yes when there is nothing; `check-index` does not.
 */
import { PodwireError } from '@podwire/errors';
import type { Condition, Item, LeaseId, Transaction, Write } from '../contract.js';
import { leaseLost, unavailable } from '../failures.js';
import { readOutcome } from './entries.js';
import type { ConsulHttp } from './http.js';
import { toConsulKey } from './keys.js';

interface Operation {
  readonly KV: {
    readonly Verb: 'check-index' | 'check-not-exists' | 'delete' | 'set' | 'lock';
    readonly Key: string;
    /** Base64. */
    readonly Value?: string;
    readonly Index?: number;
    readonly Session?: LeaseId;
  };
}

/** A condition, and two operations for what is replaced, must fit 21 times into the 64 that every Consul takes. */
export const mostOperations = 21;

function toOperations({ conditions, writes }: Transaction): Operation[] {
  const absent = new Set(conditions.filter(({ expect }) => expect === 'absent').map(({ key }) => key));
  return [...conditions.map(toCheck), ...writes.flatMap((write) => toWrites(write, absent.has(write.key)))];
}

function toCheck({ key, expect }: Condition): Operation {
  const Key = toConsulKey(key);
  if (expect === 'absent') return { KV: { Verb: 'check-not-exists', Key } };
  return { KV: { Verb: 'check-index', Key, Index: expect } };
}

function toWrites(write: Write, isNew: boolean): Operation[] {
  const Key = toConsulKey(write.key);
  const remove: Operation = { KV: { Verb: 'delete', Key } };
  if (write.op === 'delete') return [remove];
  const Value = Buffer.from(write.value).toString('base64');
  const put: Operation =
    write.lease === undefined
      ? { KV: { Verb: 'set', Key, Value } }
      : { KV: { Verb: 'lock', Key, Value, Session: write.lease } };
  return isNew ? [put] : [remove, put];
}

export type Committed =
  /** `revision`: undefined when nothing was put, since Consul says nothing of deletions. */
  { readonly committed: true; readonly revision: number | undefined } | { readonly committed: false };

/** @throws PodwireError STORE_UNAVAILABLE (uncertain), STORE_DENIED, STORE_LEASE_LOST */
export async function commit(
  http: ConsulHttp,
  transaction: Transaction,
  signal: AbortSignal | undefined,
): Promise<Committed> {
  const body = JSON.stringify(toOperations(transaction));
  const reply = await http.send({ method: 'PUT', path: '/v1/txn', body, repeatable: false, signal });
  const { Results, Errors } = readOutcome(reply.text);
  if (reply.status === 200)
    return {
      committed: true,
      revision: revisionOf(
        transaction,
        (Results ?? []).map(({ KV }) => KV),
      ),
    };
  const errors = Errors ?? [];
  if (errors.some(({ What }) => /permission denied|ACL not found/i.test(What)))
    throw new PodwireError('STORE_DENIED', describe(errors));
  if (errors.some(({ OpIndex }) => OpIndex < transaction.conditions.length)) return { committed: false };
  throw refusal(transaction, errors);
}

/** All that is put has the index of the transaction; what was only checked has smaller ones. */
function revisionOf(
  { writes }: Transaction,
  results: readonly ({ readonly ModifyIndex: number } | undefined)[],
): number | undefined {
  if (!writes.some(({ op }) => op === 'put')) return undefined;
  const revision = Math.max(0, ...results.map((each) => each?.ModifyIndex ?? 0));
  if (revision === 0) throw unavailable('Consul took a transaction and named no index', { uncertain: true });
  return revision;
}

type OperationError = { readonly What: string };

const describe = (errors: readonly OperationError[]): string => errors.map(({ What }) => What).join('; ');

/** No condition failed, and yet it was rolled back. */
function refusal({ writes }: Transaction, errors: readonly OperationError[]): PodwireError {
  const what = describe(errors);
  const lease = writes.flatMap((write) => (write.op === 'put' ? (write.lease ?? []) : []))[0];
  if (lease !== undefined && /session/i.test(what)) return leaseLost(lease, new Error(what));
  return unavailable(`Consul rolled a transaction back: ${what}`);
}

/** The items at the conditions' keys, read one by one afterwards: `get-or-empty` is missing in older Consuls. */
export const readFound = (
  conditions: readonly Condition[],
  get: (key: string) => Promise<Item | undefined>,
): Promise<(Item | undefined)[]> => Promise.all(conditions.map(({ key }) => get(key)));
