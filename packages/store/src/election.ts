/** One leader of many candidates. */
import type { Store } from './contract.js';
import { acquireLock, type LockOptions, type Lock } from './lock.js';

export interface Candidate extends LockOptions {
  readonly store: Store;
  readonly key: string;
  /**
   * Works until `lost` aborts. When it returns or throws by itself, the leadership is released and sought again after a
   * third of `ttl`.
   */
  readonly lead: (lock: Lock) => Promise<void>;
}

/**
 * Seeks to lead, leads, and seeks again, until the signal aborts: then the leader's `lost` aborts, and when it is done the
 * leadership is released. One candidate never leads twice at once: work that goes on after `lost` prevents it.
 * @throws PodwireError STORE_DENIED and what else no waiting helps against
 */
export async function electLeader(candidate: Candidate, signal: AbortSignal): Promise<void> {
  try {
    while (!signal.aborted) await leadOnce(candidate, signal);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

async function leadOnce(candidate: Candidate, signal: AbortSignal): Promise<void> {
  const { store, key, clock, ttl, log, holder } = candidate;
  const lock = await acquireLock(store, key, candidate, signal);
  log.info({ key, holder, fence: lock.fence }, 'leads');
  const lost = AbortSignal.any([lock.lost, signal]);
  try {
    await candidate.lead({ ...lock, lost });
  } catch (error) {
    if (!lost.aborted) log.error({ key, holder, error }, 'the leader has failed');
  } finally {
    await lock.release();
  }
  log.info({ key, holder, fence: lock.fence }, 'leads no more');
  if (!lost.aborted) await clock.sleep(ttl / 3, signal);
}
