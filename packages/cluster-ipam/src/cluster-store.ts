/** The store as one node uses it: each call with its deadline, and writes that are conditional on the node's own lease. */
import {
  type Block,
  blockKind,
  type ClusterCache,
  type Keys,
  nodeLeaseKind,
  poolKind,
  type Stored,
} from '@podwire/cluster-state';
import { PodwireError } from '@podwire/errors';
import { type Clock, withDeadline } from '@podwire/platform';
import {
  type Condition,
  decodeObject,
  encodeObject,
  type Item,
  type ObjectKind,
  type Revision,
  type Store,
  type Transaction,
  type TransactionOutcome,
  unavailable,
  type Write,
} from '@podwire/store';

export interface ClusterStoreOptions {
  readonly node: string;
  readonly instance: string;
  readonly store: Store;
  readonly keys: Keys;
  readonly cache: ClusterCache;
  readonly clock: Clock;
  /** Hears that another instance has the node's name. */
  readonly fence: { noteNameTaken(instance: string): void };
  /** Milliseconds for one call. */
  readonly deadline: number;
}

export class ClusterStore {
  readonly node: string;
  readonly keys: Keys;
  readonly cache: ClusterCache;
  readonly #options: ClusterStoreOptions;
  /** The revision of the node's lease, if the store had it when it was last read. */
  #lease: Revision | undefined;

  constructor(options: ClusterStoreOptions) {
    this.node = options.node;
    this.keys = options.keys;
    this.cache = options.cache;
    this.#options = options;
  }

  /** How many conditions or writes a transaction may have. */
  get operations(): number {
    return this.#options.store.limits.operations;
  }

  /** True if the store had the node's lease when it was last read. */
  get isRegistered(): boolean {
    return this.#lease !== undefined;
  }

  /**
   * The node's lease as a condition: a node that is unreachable for others must not become an owner. The lease may be lost
   * between two steps of one operation.
   * @throws PodwireError NODE_FENCED
   */
  leaseCondition(): Condition {
    if (this.#lease === undefined) throw this.notRegistered();
    return { key: this.keys.nodeLease(this.node), expect: this.#lease };
  }

  notRegistered(): PodwireError {
    return new PodwireError('NODE_FENCED', `node ${this.node} is not registered in the store (any more)`);
  }

  /** Reports if this life of the node owns the block. */
  owns(block: Block | undefined): block is Block {
    return block?.node === this.node && block.instance === this.#options.instance;
  }

  /** @throws as the store does */
  read(key: string, signal: AbortSignal): Promise<Item | undefined> {
    const { store } = this.#options;
    return this.#call(signal, false, (either) => store.get(key, { signal: either }));
  }

  /** @throws as the store does; after the deadline the outcome is uncertain */
  transact(transaction: Transaction, signal: AbortSignal): Promise<TransactionOutcome> {
    const { store } = this.#options;
    return this.#call(signal, true, (either) => store.transact(transaction, { signal: either }));
  }

  #call<T>(signal: AbortSignal, uncertain: boolean, work: (either: AbortSignal) => Promise<T>): Promise<T> {
    signal.throwIfAborted();
    const { clock, deadline } = this.#options;
    const reason = (): Error => unavailable('the store did not answer in time', { uncertain });
    return withDeadline(signal, deadline, work, { clock, reason });
  }

  /**
   * The cache learns from a transaction that is refused.
   * @returns the revision; undefined when a condition did not hold
   * @throws as the store does
   */
  async write(transaction: Transaction, signal: AbortSignal): Promise<Revision | undefined> {
    const outcome = await this.transact(transaction, signal);
    if (outcome.committed) return outcome.revision;
    this.learn(transaction.conditions, outcome.found);
    return undefined;
  }

  /**
   * Writes a block that is still as the cache has it, or deletes it.
   * @returns whether it was written. @throws as the store does
   */
  async replaceBlock(
    { key, revision }: Stored<Block>,
    value: Block | undefined,
    signal: AbortSignal,
    more: Partial<Transaction> = {},
  ): Promise<boolean> {
    const write: Write =
      value === undefined ? { op: 'delete', key } : { op: 'put', key, value: encodeObject(blockKind, value) };
    const conditions: Condition[] = [{ key, expect: revision }, ...(more.conditions ?? [])];
    const written = await this.write({ conditions, writes: [write, ...(more.writes ?? [])] }, signal);
    if (written === undefined) return false;
    if (value === undefined) this.cache.noteGone(key, written);
    else this.cache.note(key, value, written);
    return true;
  }

  /** @returns whether the node's lease is in the store. @throws as the store does */
  async readLease(signal: AbortSignal): Promise<boolean> {
    const key = this.keys.nodeLease(this.node);
    const item = await this.read(key, signal);
    this.#lease = undefined;
    if (item === undefined) return false;
    const { instance } = decodeObject(nodeLeaseKind, key, item.value);
    const isOwn = instance === this.#options.instance;
    if (isOwn) this.#lease = item.revision;
    else this.#options.fence.noteNameTaken(instance);
    return isOwn;
  }

  /** Takes in what a refused transaction has found, for the next decision. */
  learn(conditions: readonly Condition[], found: readonly (Item | undefined)[]): void {
    for (const [at, { key, expect }] of conditions.entries()) {
      const item = found[at];
      const isAsExpected = expect === 'absent' ? item === undefined : item?.revision === expect;
      if (isAsExpected) continue;
      if (key === this.keys.nodeLease(this.node)) this.#lease = undefined;
      else this.learnObject(key, item, expect === 'absent' ? undefined : expect);
    }
  }

  /** @param asked the revision that was known when the store was asked: the watch may have delivered a newer one since */
  learnObject(key: string, item: Item | undefined, asked: Revision | undefined): void {
    if (item === undefined) {
      if (asked !== undefined) this.cache.noteGone(key, asked);
      return;
    }
    const isBlock = key.startsWith(this.keys.block(''));
    const value = isBlock ? tryDecode(blockKind, item) : tryDecode(poolKind, item);
    if (value !== undefined) this.cache.note(key, value, item.revision);
  }
}

/** The cache reports objects that cannot be decoded. */
function tryDecode<T>(kind: ObjectKind<T>, item: Item): T | undefined {
  try {
    return decodeObject(kind, item.key, item.value);
  } catch {
    return undefined;
  }
}
