/** The store that clients share: plain functions on data in memory, each of them whole before the next. */
import type { Clock } from '@podwire/platform';
import type {
  Change,
  Item,
  LeaseId,
  Listing,
  Revision,
  Transaction,
  TransactionOutcome,
  WatchBatch,
  Write,
} from '../contract.js';
import { leaseLost } from '../failures.js';
import { holds } from '../single-write.js';
import { toBatches, type Watcher, Watchers } from '../watchers.js';
import { History } from './history.js';
import { type HeldLease, Leases } from './leases.js';
import { Tree } from './tree.js';

export class MemoryCore {
  readonly #clock: Clock;
  readonly #history: History;
  readonly #tree = new Tree();
  readonly #leases = new Leases();
  readonly #watchers = new Watchers();
  #revision: Revision = 0;
  #awake = false;
  /** Rings at the end of the next lease. */
  #alarm: { readonly at: number; readonly off: AbortController } | undefined;

  constructor(clock: Clock, history: number) {
    this.#clock = clock;
    this.#history = new History(history);
  }

  get revision(): Revision {
    return this.#revision;
  }

  get size(): number {
    return this.#tree.size;
  }

  /** Ends expired leases. Every call does so, since a test clock has no timer for it. */
  tick(): void {
    const now = this.#clock.elapsed();
    for (let lease = this.#leases.takeDue(now); lease !== undefined; lease = this.#leases.takeDue(now))
      this.#end(lease);
    this.#arm();
  }

  get(key: string): Item | undefined {
    this.tick();
    return this.#tree.get(key);
  }

  list(prefix: string): Listing {
    this.tick();
    return { items: this.#tree.list(prefix), revision: this.#revision };
  }

  transact({ conditions, writes }: Transaction): TransactionOutcome {
    this.tick();
    const found = conditions.map(({ key }) => this.#tree.get(key));
    if (!conditions.every((condition, index) => holds(condition, found[index])))
      return { committed: false, found };
    this.#checkLeases(writes);
    return { committed: true, revision: this.#write(writes) };
  }

  grant(ttl: number): HeldLease {
    this.tick();
    const lease = this.#leases.grant(ttl, this.#clock.elapsed());
    this.#arm();
    return lease;
  }

  /** @throws PodwireError STORE_LEASE_LOST */
  prolong(id: LeaseId): void {
    this.tick();
    const lease = this.#leases.get(id);
    if (lease === undefined) throw leaseLost(id);
    lease.deadline = this.#clock.elapsed() + lease.ttl;
  }

  revoke(id: LeaseId): void {
    this.tick();
    const lease = this.#leases.get(id);
    if (lease !== undefined) this.#end(lease);
  }

  /**
   * Tells the watcher of everything after `from`, now and from now on: with a snapshot where there is no `from` or what
   * came after it is forgotten.
   */
  watch(watcher: Watcher, from: Revision | undefined): void {
    this.tick();
    const missed = this.#catchUp(watcher.prefix, from);
    // First: a watcher that is interrupted during delivery removes itself again.
    this.#watchers.add(watcher);
    for (const batch of missed) watcher.deliver(batch);
  }

  unwatch(watcher: Watcher): void {
    this.#watchers.delete(watcher);
  }

  compact(): void {
    this.#history.forget();
  }

  /** Ends leases in time by itself from now on. */
  wake(): void {
    this.#awake = true;
    this.tick();
  }

  /** Leaves no timer behind; leases end with the next call. */
  rest(): void {
    this.#awake = false;
    this.#alarm?.off.abort();
    this.#alarm = undefined;
  }

  /** Writes the item again unchanged, so that a write with its revision meets a conflict. */
  touch(key: string): void {
    const item = this.#tree.get(key);
    if (item !== undefined) this.#write([{ op: 'put', ...item }]);
  }

  #catchUp(prefix: string, from: Revision | undefined): readonly WatchBatch[] {
    // Later than anything here: this store is an older copy of the one that said so.
    const known = from === undefined || from > this.#revision ? undefined : this.#history.after(from);
    if (known === undefined)
      return [{ type: 'snapshot', items: this.#tree.list(prefix), revision: this.#revision }];
    return toBatches(known, prefix);
  }

  #checkLeases(writes: readonly Write[]): void {
    for (const write of writes)
      if (write.op === 'put' && write.lease !== undefined && this.#leases.get(write.lease) === undefined)
        throw leaseLost(write.lease);
  }

  #write(writes: readonly Write[]): Revision {
    const revision = this.#revision + 1;
    const changes = writes.flatMap((write) => this.#apply(write, revision) ?? []);
    if (changes.length === 0) return this.#revision;
    this.#revision = revision;
    this.#history.add({ revision, changes });
    this.#watchers.deliver(changes, revision);
    return revision;
  }

  #apply(write: Write, revision: Revision): Change | undefined {
    const { key } = write;
    const before = this.#tree.get(key);
    if (write.op === 'delete' && before === undefined) return undefined;
    if (before?.lease !== undefined) this.#leases.get(before.lease)?.keys.delete(key);
    if (write.op === 'delete') {
      this.#tree.delete(key);
      return { type: 'delete', key, revision };
    }
    const { value, lease } = write;
    const item: Item = lease === undefined ? { key, value, revision } : { key, value, revision, lease };
    if (lease !== undefined) this.#leases.get(lease)?.keys.add(key);
    this.#tree.set(item);
    return { type: 'put', item };
  }

  #end({ id, keys }: HeldLease): void {
    const writes = Array.from(keys, (key): Write => ({ op: 'delete', key }));
    this.#leases.end(id);
    this.#write(writes);
  }

  #arm(): void {
    const at = this.#leases.next;
    if (at === undefined || !this.#awake || (this.#alarm?.at ?? Infinity) <= at) return;
    this.#alarm?.off.abort();
    const alarm = { at, off: new AbortController() };
    this.#alarm = alarm;
    this.#clock.sleep(Math.max(0, at - this.#clock.elapsed()), alarm.off.signal).then(
      () => {
        if (this.#alarm === alarm) this.#alarm = undefined;
        this.tick();
      },
      () => undefined,
    );
  }
}
