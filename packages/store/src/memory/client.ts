/** A client of the memory server: the interface, with faults on the way. */
import type { Clock } from '@podwire/platform';
import type {
  CallOptions,
  Item,
  Lease,
  Listing,
  PutOptions,
  Revision,
  Store,
  StoreLimits,
  Transaction,
  TransactionOutcome,
  WatchBatch,
  WatchOptions,
  Write,
} from '../contract.js';
import { unavailable } from '../failures.js';
import { checkKey, checkPrefix, checkTransaction, checkValue } from '../keys.js';
import { toPut, writeOne } from '../single-write.js';
import type { MemoryCore } from './core.js';
import type { MemoryFaults, Operation } from './faults.js';
import { type Connection, Subscription } from './subscription.js';

/** A store in memory, and what tests do to it. */
export interface MemoryStore extends Store {
  readonly faults: MemoryFaults;
  /** Calls so far, without news of watches. */
  readonly calls: number;
  /** From now on the server cannot be reached. */
  cut(): void;
  /** It can be reached again. */
  restore(): void;
  /** Cuts its watches off once. */
  dropWatches(): void;
}

interface Call<T> {
  readonly operation: Operation;
  readonly keys: readonly string[];
  readonly signal: AbortSignal | undefined;
  readonly work: () => T;
}

const reading: ReadonlySet<Operation> = new Set<Operation>(['get', 'list']);

export interface ClientParts {
  readonly core: MemoryCore;
  readonly clock: Clock;
  readonly limits: StoreLimits;
  readonly faults: MemoryFaults;
  readonly onClose: () => void;
}

export class MemoryClient implements MemoryStore, Connection {
  readonly kind = 'memory';
  readonly limits: StoreLimits;
  readonly core: MemoryCore;
  readonly clock: Clock;
  readonly faults: MemoryFaults;
  readonly #onClose: () => void;
  readonly #closed = new AbortController();
  readonly subscriptions = new Set<Subscription>();
  #calls = 0;
  #cut = false;

  constructor({ core, clock, limits, faults, onClose }: ClientParts) {
    this.core = core;
    this.clock = clock;
    this.limits = limits;
    this.faults = faults;
    this.#onClose = onClose;
  }

  get calls(): number {
    return this.#calls;
  }

  get reachable(): boolean {
    return !this.#cut && !this.closed;
  }

  get closed(): boolean {
    return this.#closed.signal.aborted;
  }

  async get(key: string, { signal }: CallOptions = {}): Promise<Item | undefined> {
    checkKey(key);
    return this.#run({ operation: 'get', keys: [key], signal, work: () => this.core.get(key) });
  }

  async put(key: string, value: string, options: PutOptions = {}): Promise<Revision> {
    checkKey(key);
    checkValue(key, value, this.limits);
    return (await this.#writeOne('put', toPut(key, value, options.lease), options)).revision;
  }

  async delete(key: string, options: CallOptions & { readonly expect?: Revision } = {}): Promise<boolean> {
    checkKey(key);
    return (await this.#writeOne('delete', { op: 'delete', key }, options)).existed;
  }

  async transact(transaction: Transaction, { signal }: CallOptions = {}): Promise<TransactionOutcome> {
    checkTransaction(transaction, this.limits);
    const keys = [...transaction.writes, ...transaction.conditions].map(({ key }) => key);
    return this.#run({ operation: 'transact', keys, signal, work: () => this.core.transact(transaction) });
  }

  async list(prefix: string, { signal }: CallOptions = {}): Promise<Listing> {
    checkPrefix(prefix);
    return this.#run({ operation: 'list', keys: [prefix], signal, work: () => this.core.list(prefix) });
  }

  watch(prefix: string, options: WatchOptions): AsyncIterable<WatchBatch> {
    checkPrefix(prefix);
    return new Subscription(this, prefix, options).run();
  }

  async grantLease(ttl: number, { signal }: CallOptions = {}): Promise<Lease> {
    const { id } = await this.#run({
      operation: 'grantLease',
      keys: [],
      signal,
      work: () => this.core.grant(ttl),
    });
    const call = (operation: Operation, work: () => void, options: CallOptions = {}): Promise<void> =>
      this.#run({ operation, keys: [id], signal: options.signal, work });
    return {
      id,
      ttl,
      keepAlive: (options) => call('keepAlive', () => this.core.prolong(id), options),
      revoke: (options) => call('revoke', () => this.core.revoke(id), options),
    };
  }

  close(): Promise<void> {
    if (this.closed) return Promise.resolve();
    this.#closed.abort(unavailable('the store is closed'));
    for (const subscription of this.subscriptions) subscription.end();
    this.#onClose();
    return Promise.resolve();
  }

  cut(): void {
    this.#cut = true;
    for (const subscription of this.subscriptions)
      subscription.interrupt(unavailable('the store cannot be reached'));
  }

  restore(): void {
    this.#cut = false;
    for (const subscription of this.subscriptions) subscription.recover();
  }

  dropWatches(): void {
    for (const subscription of this.subscriptions) subscription.drop();
  }

  #writeOne(
    operation: 'put' | 'delete',
    write: Write,
    { signal, expect }: PutOptions,
  ): Promise<{ revision: Revision; existed: boolean }> {
    return this.#run({
      operation,
      keys: [write.key],
      signal,
      work: () => writeOne(this.core, write, expect),
    });
  }

  async #run<T>({ operation, keys, signal, work }: Call<T>): Promise<T> {
    signal?.throwIfAborted();
    this.#calls++;
    const call = { operation, key: keys[0] ?? '' };
    const way = (this.faults.latency?.(call) ?? 0) / 2;
    await this.#pass(way, signal);
    if (!this.reachable) throw this.#unreachable(false);
    const fault = this.faults.decide?.(call);
    if (fault === 'unavailable') throw unavailable('the store refused the call');
    if (fault === 'request-lost') return this.#giveUp(operation, signal);
    if (fault === 'conflict') for (const key of keys) this.core.touch(key);
    const answer = work();
    if (fault === 'answer-lost') return this.#giveUp(operation, signal);
    await this.#pass(way, signal);
    if (!this.reachable) throw this.#unreachable(!reading.has(operation));
    return answer;
  }

  async #giveUp(operation: Operation, signal: AbortSignal | undefined): Promise<never> {
    await this.#pass(this.faults.timeout ?? 0, signal);
    throw unavailable('the store did not answer in time', { uncertain: !reading.has(operation) });
  }

  #unreachable(uncertain: boolean): Error {
    return unavailable(this.closed ? 'the store is closed' : 'the store cannot be reached', {
      uncertain,
    });
  }

  async #pass(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
    if (milliseconds <= 0) return;
    // When it is closed, it depends on what was done already what that means.
    const end = signal ?? this.#closed.signal;
    await this.clock.sleep(milliseconds, end).catch(() => signal?.throwIfAborted());
  }
}
