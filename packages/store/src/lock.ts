/** Locks over any store: an item that is created once and goes with its holder's lease. */
import { PodwireError } from '@podwire/errors';
import { Backoff, type Clock, compact, type Log, onAbort } from '@podwire/platform';
import type { Item, Lease, Revision, Store, WatchBatch } from './contract.js';
import { isUncertain, unavailable } from './failures.js';
import { type KeptLease, keepLease } from './lease-keeper.js';
import { keyOf } from './watchers.js';

export interface LockOptions {
  /** Written into the item, for people and for error messages. */
  readonly holder: string;
  /** Milliseconds after which a holder that died has lost it. */
  readonly ttl: number;
  readonly clock: Clock;
  readonly log: Log;
}

export interface Lock {
  /**
   * The revision at which it was taken; grows from holder to holder. The item keeps it as long as it is held, so
   * `{ key, expect: fence }` as a condition of what the holder writes holds off one who has lost it without knowing.
   */
  readonly fence: Revision;
  /** Aborts when it is lost: the lease ended, or could not be kept alive in time by the own monotonic clock. */
  readonly lost: AbortSignal;
  /** Never fails: a lock that cannot be released ends with its lease. */
  release(): Promise<void>;
}

/**
 * Takes the lock if it is free.
 * @returns undefined if it is held. @throws PodwireError STORE_UNAVAILABLE, STORE_DENIED, …; the lock is not held then
 */
export async function tryLock(
  store: Store,
  key: string,
  options: LockOptions,
  signal?: AbortSignal,
): Promise<Lock | undefined> {
  const askedAt = options.clock.elapsed();
  const lease = await store.grantLease(options.ttl, compact({ signal }));
  const kept = keepLease(lease, { ...options, askedAt });
  try {
    const fence = await take(store, key, kept, options, signal);
    if (fence !== undefined) return hold(store, key, kept, fence, options);
  } catch (error) {
    await revoke(kept, options.log);
    throw error;
  }
  await revoke(kept, options.log);
  return undefined;
}

/** Takes the lock as soon as it is free. @throws the signal's reason */
export async function acquireLock(
  store: Store,
  key: string,
  options: LockOptions,
  signal: AbortSignal,
): Promise<Lock> {
  const backoff = new Backoff({ first: 100, longest: options.ttl / 3 });
  for (;;) {
    signal.throwIfAborted();
    try {
      await untilAbsent(store, key, signal);
      const lock = await tryLock(store, key, options, signal);
      if (lock !== undefined) return lock;
      backoff.reset();
    } catch (error) {
      signal.throwIfAborted();
      if (!isPassing(error)) throw error;
      options.log.warn({ key, error }, 'a lock could not be requested; trying again');
      await options.clock.sleep(backoff.fail(), signal);
    }
  }
}

const isPassing = (error: unknown): boolean =>
  error instanceof PodwireError &&
  ['STORE_UNAVAILABLE', 'STORE_FULL', 'STORE_LEASE_LOST'].includes(error.code);

/** @returns the item's revision, or undefined if another holder has it */
async function take(
  store: Store,
  key: string,
  { lease, lost }: KeptLease,
  options: LockOptions,
  signal: AbortSignal | undefined,
): Promise<Revision | undefined> {
  const either = signal === undefined ? lost : AbortSignal.any([signal, lost]);
  try {
    return await store.put(key, options.holder, { expect: 'absent', lease: lease.id, signal: either });
  } catch (error) {
    if (error instanceof PodwireError && error.code === 'STORE_CONFLICT') return undefined;
    if (!isUncertain(error)) throw error;
    return findOwn(store, key, lease, options, either);
  }
}

/**
 * Checks if a put without an answer was done. If not, it may still be in flight: the caller then revokes the lease, and
 * without it the put fails.
 */
async function findOwn(
  store: Store,
  key: string,
  lease: Lease,
  { clock, ttl }: LockOptions,
  signal: AbortSignal,
): Promise<Revision | undefined> {
  for (;;) {
    try {
      const item = await store.get(key, { signal });
      return item?.lease === lease.id ? item.revision : undefined;
    } catch (error) {
      signal.throwIfAborted();
      if (!isPassing(error)) throw error;
      await clock.sleep(ttl / 10, signal);
    }
  }
}

function hold(store: Store, key: string, kept: KeptLease, fence: Revision, { log }: LockOptions): Lock {
  const over = new AbortController();
  onAbort(kept.lost, () => over.abort());
  watchOwn(store, key, fence, over.signal)
    .then((gone) => {
      if (gone)
        kept.lose(new PodwireError('STORE_LEASE_LOST', `${key} was taken away`, { details: { key } }));
    })
    .catch((error: unknown) => kept.lose(error));
  return {
    fence,
    lost: kept.lost,
    release: async () => {
      over.abort();
      await revoke(kept, log);
    },
  };
}

/** The item may be deleted by hand while the lease lives on. @returns whether it was deleted before the signal */
async function watchOwn(store: Store, key: string, fence: Revision, signal: AbortSignal): Promise<boolean> {
  for await (const batch of store.watch(key, { from: fence, signal }))
    if (itemIn(batch, key)?.revision !== fence && concerns(batch, key)) return true;
  return false;
}

async function untilAbsent(store: Store, key: string, signal: AbortSignal): Promise<void> {
  for await (const batch of store.watch(key, { signal }))
    if (concerns(batch, key) && itemIn(batch, key) === undefined) return;
  signal.throwIfAborted();
  throw unavailable(`the watch of ${key} has ended`);
}

const concerns = (batch: WatchBatch, key: string): boolean =>
  batch.type === 'snapshot' || batch.changes.some((change) => keyOf(change) === key);

/** The item as a batch leaves it. */
function itemIn(batch: WatchBatch, key: string): Item | undefined {
  if (batch.type === 'snapshot') return batch.items.find((item) => item.key === key);
  const last = batch.changes.findLast((change) => keyOf(change) === key);
  return last?.type === 'put' ? last.item : undefined;
}

async function revoke(kept: KeptLease, log: Log): Promise<void> {
  kept.stop();
  try {
    await kept.lease.revoke();
  } catch (error) {
    log.warn({ lease: kept.lease.id, error }, 'a lease could not be revoked; it will expire');
  }
}
