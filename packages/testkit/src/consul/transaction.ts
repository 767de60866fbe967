/** `/v1/txn`: operations on the KV store, one after the other, all or none. */
import {
  type Contents,
  deleteEntry,
  type Draft,
  draftOf,
  type Entry,
  listEntries,
  lockEntry,
  setEntry,
  unlockEntry,
} from './state.js';

export interface KvOperation {
  readonly Verb: string;
  readonly Key: string;
  readonly Value?: string | null;
  readonly Flags?: number;
  readonly Index?: number;
  readonly Session?: string;
}

export interface TransactionError {
  readonly OpIndex: number;
  readonly What: string;
}

export type TransactionResult =
  | { readonly contents: Contents; readonly results: readonly Entry[] }
  | { readonly errors: readonly TransactionError[] };

/** Operations that change nothing: such a transaction makes no new index. */
const reads = new Set([
  'get',
  'get-or-empty',
  'get-tree',
  'check-index',
  'check-session',
  'check-not-exists',
]);

export function runTransaction(contents: Contents, operations: readonly KvOperation[]): TransactionResult {
  const draft = draftOf(contents);
  const results: Entry[] = [];
  const errors: TransactionError[] = [];
  // All are tried, also after one has failed: every error is told.
  for (const [OpIndex, operation] of operations.entries())
    try {
      results.push(...runOperation(draft, operation));
    } catch (error) {
      errors.push({ OpIndex, What: (error as Error).message });
    }
  if (errors.length > 0) return { errors };
  const changes = operations.some(({ Verb }) => !reads.has(Verb));
  return { contents: changes ? draft : contents, results };
}

function runOperation(draft: Draft, operation: KvOperation): readonly Entry[] {
  const verb = verbs[operation.Verb];
  if (verb === undefined) throw new Error(`unknown KV verb "${operation.Verb}"`);
  return verb(draft, operation);
}

type Verb = (draft: Draft, operation: KvOperation) => readonly Entry[];

const kept = ({ Key, Value, Flags }: KvOperation) => ({ Key, Value: Value ?? '', Flags: Flags ?? 0 });

/** Values come back from `get` alone. */
const bare = (entry: Entry): Entry => ({ ...entry, Value: null as unknown as string });

const verbs: Readonly<Record<string, Verb>> = {
  set: (draft, operation) => [bare(setEntry(draft, kept(operation)))],
  cas(draft, operation) {
    if ((draft.entries.get(operation.Key)?.ModifyIndex ?? 0) !== (operation.Index ?? 0))
      throw new Error(`failed to set key "${operation.Key}", index is stale`);
    return [bare(setEntry(draft, kept(operation)))];
  },
  lock(draft, operation) {
    const entry = lockEntry(draft, kept(operation), operation.Session ?? '');
    if (entry === undefined) throw new Error(`failed to lock key "${operation.Key}", lock is already held`);
    return [bare(entry)];
  },
  unlock(draft, operation) {
    const entry = unlockEntry(draft, kept(operation), operation.Session ?? '');
    if (entry === undefined)
      throw new Error(`failed to unlock key "${operation.Key}": not held by this session`);
    return [bare(entry)];
  },
  get: (draft, { Key }) => [demand(draft, Key)],
  'get-or-empty': (draft, { Key }) => [draft.entries.get(Key)].filter((entry) => entry !== undefined),
  'get-tree': (draft, { Key }) => listEntries(draft, Key).entries,
  'check-index'(draft, { Key, Index }) {
    const entry = demand(draft, Key);
    if (entry.ModifyIndex !== Index)
      throw new Error(
        `failed index check for key "${Key}", current modify index ${entry.ModifyIndex} != ${Index}`,
      );
    return [bare(entry)];
  },
  'check-session'(draft, { Key, Session }) {
    const entry = demand(draft, Key);
    if ((entry.Session ?? '') !== (Session ?? '')) throw new Error(`failed session check for key "${Key}"`);
    return [bare(entry)];
  },
  'check-not-exists'(draft, { Key }) {
    if (draft.entries.has(Key)) throw new Error(`key "${Key}" exists`);
    return [];
  },
  delete(draft, { Key }) {
    deleteEntry(draft, Key);
    return [];
  },
  'delete-cas'(draft, { Key, Index }) {
    const entry = draft.entries.get(Key);
    // Nothing there counts as done.
    if (entry !== undefined && entry.ModifyIndex !== Index)
      throw new Error(`failed to delete key "${Key}", index is stale`);
    deleteEntry(draft, Key);
    return [];
  },
  'delete-tree'(draft, { Key }) {
    for (const entry of listEntries(draft, Key).entries) deleteEntry(draft, entry.Key);
    return [];
  },
};

function demand(draft: Draft, key: string): Entry {
  const entry = draft.entries.get(key);
  if (entry === undefined) throw new Error(`key "${key}" doesn't exist`);
  return entry;
}
