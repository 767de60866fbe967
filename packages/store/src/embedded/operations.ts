/** Operations on the database: each is one LMDB transaction, across all processes of the machine. */
import { PodwireError } from '@podwire/errors';
import type {
  Change,
  Expectation,
  Item,
  LeaseId,
  Listing,
  Revision,
  Transaction,
  TransactionOutcome,
  Write,
} from '../contract.js';
import { holds, writeOne } from '../single-write.js';
import { type Database, readState, type State, type StoredChange, type StoredItem } from './database.js';
import { findDue, removeLease, setDeadline, ttlOf } from './leases.js';

export interface Bounds {
  /** Transactions that the log keeps. */
  readonly history: number;
  /** Characters that the log keeps at most. */
  readonly log: number;
  /** Characters of items and keys; more is STORE_FULL. */
  readonly stored: number;
}

export function readItem({ items }: Database, key: string): Item | undefined {
  const found = items.get(key);
  return found === undefined ? undefined : toItem(key, found);
}

/** Of one moment, with its revision: nothing comes between in one turn of the event loop. */
export function readListing(database: Database, prefix: string): Listing {
  const { revision } = readState(database);
  // Keys are printable ASCII: DEL is after all that begin with the prefix.
  const range = database.items.getRange({ start: prefix, end: `${prefix}\u007f` });
  return { items: Array.from(range, ({ key, value }) => toItem(key, value)), revision };
}

/** @returns undefined when some of it is forgotten, or the revision is of another store's future */
export function readChanges(
  database: Database,
  after: Revision,
): readonly { readonly revision: Revision; readonly changes: readonly Change[] }[] | undefined {
  const { revision, forgotten } = readState(database);
  if (after < forgotten || after > revision) return undefined;
  return Array.from(database.log.getRange({ start: after + 1 }), ({ key, value }) => ({
    revision: key,
    changes: value.map((change) => toChange(change, key)),
  }));
}

export function transact(
  database: Database,
  { conditions, writes }: Transaction,
  bounds: Bounds,
): TransactionOutcome {
  return database.root.transactionSync((): TransactionOutcome => {
    const found = conditions.map(({ key }) => readItem(database, key));
    if (!conditions.every((condition, index) => holds(condition, found[index])))
      return { committed: false, found };
    for (const write of writes)
      if (write.op === 'put' && write.lease !== undefined) ttlOf(database, write.lease);
    return { committed: true, revision: apply(database, writes, bounds) };
  });
}

/** @throws PodwireError STORE_CONFLICT */
export function transactOne(
  database: Database,
  write: Write,
  expect: Expectation | undefined,
  bounds: Bounds,
): { readonly revision: Revision; readonly existed: boolean } {
  const inside = {
    get: (key: string) => readItem(database, key),
    transact: (whole: Transaction) => transact(database, whole, bounds),
  };
  return database.root.transactionSync(() => writeOne(inside, write, expect));
}

export function grant(database: Database, ttl: number, now: number): LeaseId {
  return database.root.transactionSync(() => {
    const state = readState(database);
    const id = `${state.granted + 1}`;
    database.meta.putSync('state', { ...state, granted: state.granted + 1 });
    setDeadline(database, id, ttl, now);
    return id;
  });
}

export function prolong(database: Database, id: LeaseId, now: number): void {
  database.root.transactionSync(() => setDeadline(database, id, ttlOf(database, id), now));
}

export function revoke(database: Database, id: LeaseId, bounds: Bounds): void {
  database.root.transactionSync(() => end(database, id, bounds));
}

/** Ends the leases that are over. */
export function expire(database: Database, now: number, bounds: Bounds): void {
  database.root.transactionSync(() => {
    for (let id = findDue(database, now); id !== undefined; id = findDue(database, now))
      end(database, id, bounds);
  });
}

/** After a reboot no earlier lease is held, and the monotonic clock has begun at zero. */
export function endLeasesOfBefore(database: Database, boot: string, bounds: Bounds): void {
  database.root.transactionSync(() => {
    if (readState(database).boot === boot) return;
    for (const id of [...database.leases.getKeys()]) end(database, id, bounds);
    database.meta.putSync('state', { ...readState(database), boot });
  });
}

/** Forgets the log. */
export function compactDatabase(database: Database): void {
  database.root.transactionSync(() => {
    const state = readState(database);
    for (const revision of [...database.log.getKeys()]) database.log.removeSync(revision);
    database.meta.putSync('state', { ...state, forgotten: state.revision, logged: 0 });
  });
}

function end(database: Database, id: LeaseId, bounds: Bounds): void {
  const keys = removeLease(database, id);
  if (keys.length > 0)
    apply(
      database,
      keys.map((key) => ({ op: 'delete', key })),
      bounds,
    );
}

/** @throws PodwireError STORE_FULL, and with that the transaction is undone */
function apply(database: Database, writes: readonly Write[], bounds: Bounds): Revision {
  const state = readState(database);
  const revision = state.revision + 1;
  let { stored } = state;
  const changes: StoredChange[] = [];
  for (const write of writes) {
    const before = database.items.get(write.key);
    if (write.op === 'delete' && before === undefined) continue;
    if (before?.[2] !== undefined) database.bound.removeSync([before[2], write.key]);
    stored +=
      sizeOf(write.key, write.op === 'put' ? write.value : undefined) - sizeOf(write.key, before?.[0]);
    changes.push(applyOne(database, write, revision));
  }
  if (changes.length === 0) return state.revision;
  if (stored > bounds.stored && stored > state.stored)
    throw new PodwireError('STORE_FULL', `the store has ${state.stored} of ${bounds.stored} bytes`);
  database.log.putSync(revision, changes);
  const logged = state.logged + weigh(changes);
  database.meta.putSync('state', trim(database, { ...state, revision, stored, logged }, bounds));
  return revision;
}

function applyOne({ items, bound }: Database, write: Write, revision: Revision): StoredChange {
  const { key } = write;
  if (write.op === 'delete') {
    items.removeSync(key);
    return [key];
  }
  const { value, lease } = write;
  items.putSync(key, lease === undefined ? [value, revision] : [value, revision, lease]);
  if (lease === undefined) return [key, value];
  bound.putSync([lease, key], true);
  return [key, value, lease];
}

/** Forgets what is too long ago. */
function trim({ log }: Database, state: State, bounds: Bounds): State {
  let { forgotten, logged } = state;
  while (forgotten < state.revision && (state.revision - forgotten > bounds.history || logged > bounds.log)) {
    forgotten++;
    logged -= weigh(log.get(forgotten) ?? []);
    log.removeSync(forgotten);
  }
  return { ...state, forgotten, logged };
}

const sizeOf = (key: string, value: string | undefined): number =>
  value === undefined ? 0 : key.length + value.length;

const weigh = (changes: readonly StoredChange[]): number =>
  changes.reduce((sum, [key, value = '']) => sum + key.length + value.length, 0);

function toItem(key: string, [value, revision, lease]: StoredItem): Item {
  return lease === undefined ? { key, value, revision } : { key, value, revision, lease };
}

function toChange([key, value, lease]: StoredChange, revision: Revision): Change {
  if (value === undefined) return { type: 'delete', key, revision };
  return {
    type: 'put',
    item: toItem(key, lease === undefined ? [value, revision] : [value, revision, lease]),
  };
}
