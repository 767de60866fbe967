/** The interface over one directory. All clients of one process share what is open. */
import fs from 'node:fs';
import path from 'node:path';
import { compact } from '@podwire/platform';
import type {
  CallOptions,
  Item,
  Lease,
  Listing,
  PutOptions,
  Revision,
  StoreLimits,
  Transaction,
  TransactionOutcome,
  WatchBatch,
  WatchOptions,
  Write,
} from '../contract.js';
import { unavailable } from '../failures.js';
import { checkKey, checkPrefix, checkTransaction, checkValue } from '../keys.js';
import { toPut } from '../single-write.js';
import { checkFormat, type Database, openDatabase, readState, translate } from './database.js';
import { Follower } from './follower.js';
import { findDue } from './leases.js';
import {
  type Bounds,
  compactDatabase,
  endLeasesOfBefore,
  expire,
  grant,
  prolong,
  readItem,
  readListing,
  revoke,
  transact,
  transactOne,
} from './operations.js';
import type { EmbeddedOptions, EmbeddedStore } from './options.js';
import { Subscription } from './subscription.js';

interface Shared {
  readonly place: string;
  readonly database: Database;
  readonly follower: Follower;
  users: number;
}

/** By directory: LMDB must not be open twice in one process. */
const open = new Map<string, Shared>();

/** Those that are just being closed; by the time they are, they are gone from here. */
const closing = new Map<string, Promise<void>>();

/** Of all processes alike, and never set: milliseconds since the machine was started. */
const sinceStart = (): number => Number(process.hrtime.bigint()) / 1e6;

const readBoot = (): string => fs.readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();

export async function createEmbeddedStore(
  directory: string,
  options: EmbeddedOptions,
): Promise<EmbeddedStore> {
  const place = path.resolve(directory);
  while (closing.has(place)) await closing.get(place);
  const bounds: Bounds = {
    history: options.history ?? 10_000,
    log: 64 * 1024 * 1024,
    stored: options.maxBytes ?? 256 * 1024 * 1024,
  };
  try {
    const shared = open.get(place) ?? openShared(place, options, bounds);
    shared.users++;
    return new EmbeddedClient(shared, bounds, options.now ?? sinceStart, () => leave(place, shared));
  } catch (error) {
    // It was opened but cannot be used: each further attempt would leak files.
    await closing.get(place);
    throw translate(error, place);
  }
}

function openShared(place: string, options: EmbeddedOptions, bounds: Bounds): Shared {
  const { clock, log, now = sinceStart, boot = readBoot(), create = true } = options;
  const database = openDatabase(place, create);
  try {
    checkFormat(database, place, boot);
    endLeasesOfBefore(database, boot, bounds);
  } catch (error) {
    void close(place, database);
    throw error;
  }
  const end = (): void => {
    if (findDue(database, now()) === undefined) return;
    expire(database, now(), bounds);
    signalChange(database);
  };
  const follower = new Follower({ database, clock, log, now, expire: end });
  const shared: Shared = { place, database, follower, users: 0 };
  open.set(place, shared);
  return shared;
}

async function leave(place: string, shared: Shared): Promise<void> {
  if (--shared.users > 0) return;
  open.delete(place);
  shared.follower.stop();
  await close(place, shared.database);
}

function close(place: string, { root }: Database): Promise<void> {
  const closed = root.close().finally(() => closing.delete(place));
  closing.set(place, closed);
  return closed;
}

/** Tells other processes. What it fails at, they find out later by themselves. */
function signalChange({ changeFile }: Database): void {
  try {
    fs.writeFileSync(changeFile, '.', { flag: 'r+' });
  } catch {
    // The write is done; an error would help no one.
  }
}

/**
 * Calls of LMDB hold the process up, and are done when they return: calls in a loop would let no other work in the
 * process have a turn.
 */
const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

class EmbeddedClient implements EmbeddedStore {
  readonly kind = 'embedded';
  readonly limits: StoreLimits = { operations: 1024, valueBytes: 1024 * 1024 };
  readonly #shared: Shared;
  readonly #bounds: Bounds;
  readonly #now: () => number;
  readonly #leave: () => Promise<void>;
  readonly #subscriptions = new Set<Subscription>();
  #closing: Promise<void> | undefined;

  constructor(shared: Shared, bounds: Bounds, now: () => number, leave: () => Promise<void>) {
    this.#shared = shared;
    this.#bounds = bounds;
    this.#now = now;
    this.#leave = leave;
  }

  async get(key: string, options: CallOptions = {}): Promise<Item | undefined> {
    checkKey(key);
    return await this.#read(options, (database) => readItem(database, key));
  }

  async put(key: string, value: string, options: PutOptions = {}): Promise<Revision> {
    checkKey(key);
    checkValue(key, value, this.limits);
    return (await this.#writeOne(toPut(key, value, options.lease), options)).revision;
  }

  async delete(key: string, options: CallOptions & { readonly expect?: Revision } = {}): Promise<boolean> {
    checkKey(key);
    return (await this.#writeOne({ op: 'delete', key }, options)).existed;
  }

  async transact(transaction: Transaction, options: CallOptions = {}): Promise<TransactionOutcome> {
    checkTransaction(transaction, this.limits);
    return await this.#write(options, (database) => transact(database, transaction, this.#bounds));
  }

  async list(prefix: string, options: CallOptions = {}): Promise<Listing> {
    checkPrefix(prefix);
    return await this.#read(options, (database) => readListing(database, prefix));
  }

  watch(prefix: string, options: WatchOptions): AsyncIterable<WatchBatch> {
    checkPrefix(prefix);
    const isClosed = (): boolean => this.#closing !== undefined;
    return new Subscription(this.#shared.follower, prefix, options).run(this.#subscriptions, isClosed);
  }

  async grantLease(ttl: number, options: CallOptions = {}): Promise<Lease> {
    const id = await this.#write(options, (database) => grant(database, ttl, this.#now()));
    return {
      id,
      ttl,
      keepAlive: (given = {}) => this.#write(given, (database) => prolong(database, id, this.#now())),
      revoke: (given = {}) => this.#write(given, (database) => revoke(database, id, this.#bounds)),
    };
  }

  compact(): Promise<void> {
    return this.#write({}, compactDatabase);
  }

  close(): Promise<void> {
    if (this.#closing === undefined) {
      for (const subscription of this.#subscriptions) subscription.end();
      this.#closing = this.#leave();
    }
    return this.#closing;
  }

  #writeOne(
    write: Write,
    { signal, expect }: PutOptions,
  ): Promise<{ readonly revision: Revision; readonly existed: boolean }> {
    return this.#write(compact({ signal }), (database) => transactOne(database, write, expect, this.#bounds));
  }

  async #write<T>(options: CallOptions, work: (database: Database) => T): Promise<T> {
    await nextTurn();
    const { database, follower } = this.#shared;
    const before = this.#work(options, readState).revision;
    const result = this.#work(options, work, true);
    if (readState(database).revision === before) return result;
    signalChange(database);
    follower.wake();
    return result;
  }

  async #read<T>(options: CallOptions, work: (database: Database) => T): Promise<T> {
    await nextTurn();
    return this.#work(options, work);
  }

  /** After the leases that are over have ended: what is read is never of one. */
  #work<T>({ signal }: CallOptions, work: (database: Database) => T, isWrite = false): T {
    signal?.throwIfAborted();
    if (this.#closing !== undefined) throw unavailable('the store is closed');
    const { database, follower } = this.#shared;
    try {
      // The view of this turn of the event loop may be older than what another process has done.
      database.root.resetReadTxn();
      if (findDue(database, this.#now()) !== undefined) {
        expire(database, this.#now(), this.#bounds);
        signalChange(database);
        follower.wake();
      }
      return work(database);
    } catch (error) {
      throw translate(error, this.#shared.place, isWrite);
    }
  }
}
